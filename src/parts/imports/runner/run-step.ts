import { setTimeout as sleep } from 'node:timers/promises'
import type { Order, Result } from '#importer/steps.ts'
import type { Import } from '#parts/imports/import-store.ts'
import type { Logger } from '#platform/log.ts'
import { type Ledger, writeLedger } from './ledger.ts'
import { beyondMemory, finalExcess, type Limits, watchLimits } from './limits.ts'
import type { Site } from './orders.ts'
import { openRecorder } from './progress-writer.ts'
import { type Progress, type WorkerProcess, withoutSecrets } from './worker-process.ts'

/** Where imports are worked on. */
export interface Bench extends Site {
  log: Logger
  limits: Limits
}

export interface Failure {
  kind: 'error' | 'auth' | 'fault'
  message: string
}

/** Before a step is tried again whose worker died, in milliseconds. */
const pauseAfterDeath = 200

/** Has a worker do one step, within the limits, and writes down how far it comes. */
export async function work(
  bench: Bench,
  held: Import,
  order: Order,
  ledger: Ledger,
  worker: WorkerProcess,
  signal: AbortSignal,
): Promise<{ result: Result } | { failure: Failure } | 'died'> {
  const { log, limits } = bench
  signal.throwIfAborted()
  const { folder, step } = order
  // Counted before it is done: whoever begins it may not live to count it afterwards.
  ledger.tries++
  await writeLedger(folder, ledger)
  const before = ledger.worked
  const started = performance.now()
  let heard = started
  const worked = () => before + performance.now() - started
  const recorder = openRecorder(bench, held, async (furthest) => {
    ledger.worked = worked()
    if (furthest > ledger.furthest) Object.assign(ledger, { furthest, tries: 0 })
    await writeLedger(folder, ledger)
  })
  const stir = () => {
    heard = performance.now()
  }
  let excess: string | undefined
  const usage = { group: worker.group, folder, worked, silent: () => performance.now() - heard, stir }
  using _ = watchLimits(limits, usage, (message) => {
    excess = message
    void worker.end()
  })
  if (signal.aborted) void worker.end()
  signal.addEventListener('abort', worker.end)
  const progressed = (progress: Progress) => {
    stir()
    recorder.tell(progress)
  }
  const last = await worker.obey(order, progressed).finally(() => signal.removeEventListener('abort', worker.end))
  await recorder.end()
  ledger.worked = worked()
  if (signal.aborted) {
    // To be stopped is no failed try.
    await writeLedger(folder, { ...ledger, tries: Math.max(0, ledger.tries - 1) }).catch(() => {})
    return 'died'
  }
  excess ??= await finalExcess(limits, usage)
  if (excess) return { failure: { kind: 'fault', message: excess } }
  if ('result' in last) return last
  const said = withoutSecrets(worker.complaints(), order)
  const about = { import_id: held.id, step, said }
  if ('failure' in last) {
    if (last.failure.kind === 'fault') log.error(about, 'a step of an import has failed')
    return { failure: { ...last.failure, message: withoutSecrets(last.failure.message, order) } }
  }
  if (/heap out of memory/.test(said)) return { failure: { kind: 'fault', message: beyondMemory(limits) } }
  log.warn({ ...about, ended: last.died }, 'a worker of an import has ended: it is begun again')
  await sleep(pauseAfterDeath)
  return 'died'
}
