import { setTimeout as sleep } from 'node:timers/promises'
import type { Order, Result } from '#importer/steps.ts'
import type { Import } from '#parts/imports/import-row.ts'
import { recordProgress } from '#parts/imports/progress.ts'
import { sql } from '#platform/database.ts'
import { DatabaseUnavailable, isDisconnected, StorageUnavailable } from '#platform/unavailable.ts'
import type { RunnerDeps } from './deps.ts'
import { type Ledger, writeLedger } from './ledger.ts'
import { finalLimitError, memoryError, watchLimits } from './limits.ts'
import { type Progress, redactSecrets, type WorkerProcess } from './worker-process.ts'

export interface Failure {
  kind: 'error' | 'auth' | 'fault'
  message: string
}

/** In milliseconds, after a worker died. */
const restartDelay = 200

/** Runs one step in a worker within the limits, and records its progress. */
export async function runStep(
  deps: RunnerDeps,
  imported: Import,
  order: Order,
  ledger: Ledger,
  worker: WorkerProcess,
  signal: AbortSignal,
): Promise<{ result: Result } | { failure: Failure } | 'died'> {
  const { log, limits } = deps
  signal.throwIfAborted()
  const { folder, step } = order
  // Counted before the step, because this process may be killed during it.
  ledger.tries++
  await writeLedger(folder, ledger)
  const before = ledger.worked
  const started = performance.now()
  let lastActive = started
  const worked = () => before + performance.now() - started
  const progressWriter = openProgressWriter(deps, imported, async (furthest) => {
    ledger.worked = worked()
    if (furthest > ledger.furthest) Object.assign(ledger, { furthest, tries: 0 })
    await writeLedger(folder, ledger)
  })
  const markActive = () => {
    lastActive = performance.now()
  }
  let limitError: string | undefined
  const usage = { group: worker.group, folder, worked, idleTime: () => performance.now() - lastActive, markActive }
  using _ = watchLimits(limits, usage, (message) => {
    limitError = message
    void worker.end()
  })
  if (signal.aborted) void worker.end()
  signal.addEventListener('abort', worker.end)
  const onProgress = (progress: Progress) => {
    markActive()
    progressWriter.add(progress)
  }
  const last = await worker.handleOrder(order, onProgress).finally(() => signal.removeEventListener('abort', worker.end))
  await progressWriter.end()
  ledger.worked = worked()
  if (signal.aborted) {
    // An interrupted attempt does not count.
    await writeLedger(folder, { ...ledger, tries: Math.max(0, ledger.tries - 1) }).catch(() => {})
    return 'died'
  }
  limitError ??= await finalLimitError(limits, usage)
  if (limitError) return { failure: { kind: 'fault', message: limitError } }
  if ('result' in last) return last
  const stderr = redactSecrets(worker.stderr(), order)
  const about = { import_id: imported.id, step, stderr }
  if ('failure' in last) {
    if (last.failure.kind === 'fault') log[await levelFor(deps, imported.id)](about, 'a step of an import failed')
    return { failure: { ...last.failure, message: redactSecrets(last.failure.message, order) } }
  }
  if (/heap out of memory/.test(stderr)) return { failure: { kind: 'fault', message: memoryError(limits) } }
  log.warn({ ...about, ended: last.died }, 'a worker of an import died; the step is retried')
  await sleep(restartDelay)
  return 'died'
}

/** In milliseconds: the shortest time between two writes, and the longest. */
const interval = 300
const heartbeat = 10_000

/** Writes the progress of a worker, less often than the worker reports it. `onWritten` gets a number that grows with the progress. */
export function openProgressWriter(deps: RunnerDeps, { id, run }: Import, onWritten: (furthest: number) => Promise<void>) {
  let pending: Progress = {}
  let unwritten = true
  let last = 0
  let writing: Promise<void> | undefined
  let furthest = 0

  async function write() {
    const progress = pending
    pending = {}
    unwritten = false
    last = performance.now()
    try {
      await recordProgress(deps.db, id, run, progress)
      await onWritten(furthest)
    } catch (error) {
      // Written with the next progress.
      pending = { ...progress, ...pending, ...joinAuthors(progress, pending) }
      unwritten = true
      throw error
    }
  }

  const timer = setInterval(() => {
    if (!unwritten && performance.now() - last < heartbeat) return
    writing ??= write()
      .catch((error) => logFailure(deps, error, 'the progress of an import could not be written', id))
      .finally(() => {
        writing = undefined
      })
  }, interval).unref()

  return {
    add(progress: Progress) {
      pending = { ...pending, ...progress, ...joinAuthors(pending, progress) }
      unwritten = true
      const { percent = 0, push_percent = 0, commit_count = 0 } = pending
      furthest = Math.max(furthest, percent + push_percent + commit_count)
    },
    /** Writes what is left. */
    async end() {
      clearInterval(timer)
      await writing
      if (unwritten) await write()
    },
  }
}

function joinAuthors(before: Progress, after: Progress): Pick<Progress, 'authors'> {
  const authors = [...(before.authors ?? []), ...(after.authors ?? [])]
  return authors.length > 0 ? { authors } : {}
}

/** Logs an outage of the database or the storage, which is expected and retried, at debug; any other error is a bug. */
export async function logFailure(deps: RunnerDeps, error: unknown, message: string, import_id?: number) {
  const outage = error instanceof DatabaseUnavailable || error instanceof StorageUnavailable || isDisconnected(error)
  const level = outage ? 'debug' : import_id === undefined ? 'error' : await levelFor(deps, import_id)
  deps.log[level]({ err: error, ...(import_id !== undefined && { import_id }) }, message)
}

/** Work on an import that is deleted meanwhile, with its repository or alone, fails without a fault. */
async function levelFor({ db }: RunnerDeps, import_id: number): Promise<'error' | 'debug'> {
  const found = await db.rows(sql`select id from imports where id = ${import_id}`).catch(() => undefined)
  return found?.length === 0 ? 'debug' : 'error'
}
