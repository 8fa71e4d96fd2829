import { setTimeout as sleep } from 'node:timers/promises'
import { addObjects } from '#hosting/lfs/objects.ts'
import { ImportFailure } from '#importer/source.ts'
import type { Order, Result } from '#importer/steps.ts'
import { takeCorrections } from '#parts/imports/authors.ts'
import { completeCorrection, completeImport } from '#parts/imports/complete-import.ts'
import { openCredentials } from '#parts/imports/credentials.ts'
import type { Import } from '#parts/imports/import-row.ts'
import { applyEvent, type Outcome } from '#parts/imports/progress.ts'
import { deleteStage } from '#parts/imports/stages.ts'
import type { RunEvent } from '#parts/imports/states.ts'
import { sql } from '#platform/database.ts'
import { DatabaseUnavailable, StorageUnavailable } from '#platform/unavailable.ts'
import type { Vault } from '#platform/vault.ts'
import type { RunnerDeps } from './deps.ts'
import { importsRoot, openFolder, removeFolder } from './folders.ts'
import { lfsStoreOf, removeSent, sendObjects } from './large-objects.ts'
import { type Ledger, newLedger, originOf, readLedger, writeLedger } from './ledger.ts'
import { type Failure, logFailure, runStep } from './run-step.ts'
import { fetchStage, storeStage } from './store-stage.ts'
import { startWorker, type WorkerProcess } from './worker-process.ts'

/** How many attempts at a step may make no progress. */
const maxAttempts = 3
/** In milliseconds. Corrections made within this time are written together. */
const correctionDelay = 2000

/** Runs the steps of an import that this node has claimed, until `stopping` aborts or the pool of the next step is full. */
export function runImport(deps: RunnerDeps, import_id: number, stopping: AbortSignal, hasRoom: (imported: Import) => boolean) {
  const root = importsRoot(deps.data)
  let run: number | undefined
  let step = new AbortController()
  let storing = false
  const workers = openWorkers(deps)

  async function runSteps(): Promise<Unstored | undefined> {
    while (!stopping.aborted) {
      const imported = await deps.db.first<Import>(sql`select * from imports where id = ${import_id}`)
      const is_over = imported?.status === 'complete' && !imported.active
      if (!imported || (is_over && (deps.keep_days === 0 || !imported.published))) {
        await removeFolder(root, import_id)
        return
      }
      const has_work = is_over ? deps.files.folder === undefined : imported.active
      if (!has_work || !hasRoom(imported)) return
      // A restarted import reuses nothing of a run that was under way.
      if (run !== undefined && run !== imported.run && isEarly(imported)) await removeFolder(root, import_id)
      run = imported.run
      step = new AbortController()
      const signal = AbortSignal.any([stopping, step.signal])
      if (is_over) {
        const stored = await store(imported, signal)
        if (stored !== 'interrupted') return stored
        // Storing leaves the folder as it was, so another run may use it.
        run = undefined
        continue
      }
      if (isEarly(imported) && !(await prepareFolder(deps, imported, signal))) continue
      const folder = await openFolder(root, import_id)
      const ledger = await openLedger(root, folder, imported)
      const done = await attemptStep(deps, imported, folder, ledger, signal, workers)
      if (!done) await workers.endWorker()
    }
  }

  /** A failure is tried again later, and changes nothing for users. */
  async function store(imported: Import, signal: AbortSignal): Promise<Unstored | 'interrupted' | undefined> {
    await workers.endWorker()
    storing = true
    try {
      return await storeStage(deps, imported, signal)
    } catch (error) {
      if (signal.aborted) return 'interrupted'
      await logFailure(deps, error, 'the files of a complete import could not be stored', import_id)
      return 'failed'
    } finally {
      storing = false
    }
  }

  return {
    /** Resolves when the import has nothing to do, or is left to another node; with why its folder is not in a store on a network. */
    done: deps.db.withBackgroundTimeouts(runSteps).finally(workers.endWorker),
    /** Called at every poll with the current row, or undefined if the import is gone. */
    notice(found: Pick<Import, 'run' | 'active'> | undefined) {
      // The row may have been read before this run began. Users do not wait until a folder is stored.
      if (run !== undefined && (!found || found.run > run || (storing && found.active))) step.abort()
    },
  }
}

export type ImportRun = ReturnType<typeof runImport>

/** Why the folder of a complete import is still on disk: it cannot be in the store, or storing it failed. */
export type Unstored = 'stays' | 'failed'

const isEarly = ({ status }: Import) => status === 'detecting' || status === 'importing'

/** Brings the files of an earlier run. False if that was interrupted or failed. */
async function prepareFolder(deps: RunnerDeps, imported: Import, signal: AbortSignal): Promise<boolean> {
  try {
    await fetchStage(deps, imported, signal)
    return true
  } catch (error) {
    if (signal.aborted) return false
    if (!(error instanceof ImportFailure)) throw error
    await fail(deps, imported, { kind: error.kind, message: error.message })
    return false
  }
}

/** The folder is reused only for the same source. */
async function openLedger(root: string, folder: string, imported: Import): Promise<Ledger> {
  const found = await readLedger(folder)
  if (found?.run === imported.run) return found
  const fresh = newLedger(imported)
  if (found && isEarly(imported) && found.origin !== fresh.origin) {
    await removeFolder(root, imported.id)
    await openFolder(root, imported.id)
  }
  return fresh
}

function openWorkers({ limits }: RunnerDeps) {
  let worker: WorkerProcess | undefined
  return {
    spawnWorker(folder: string) {
      worker ??= startWorker(folder, limits.memory)
      return worker
    },
    async endWorker() {
      await worker?.end()
      worker = undefined
    },
  }
}

/** The worker of an import. It is reused for the next step unless a step fails. */
type Workers = ReturnType<typeof openWorkers>

/** One attempt at one step. Returns whether it is done, so that the worker can take the next. */
async function attemptStep(
  deps: RunnerDeps,
  imported: Import,
  folder: string,
  ledger: Ledger,
  signal: AbortSignal,
  workers: Workers,
): Promise<boolean> {
  const endWith = async (failure: Failure) => {
    // The worker must not write into the folder while it is removed.
    await workers.endWorker()
    await fail(deps, imported, failure)
    return false
  }
  try {
    if (imported.status === 'complete') await sleep(correctionDelay, undefined, { signal })
    if (ledger.tries >= maxAttempts) return await endWith({ kind: 'fault', message: gaveUpMessage })
    const order = await buildOrder(deps, imported, folder, ledger.found)
    const outcome = await runStep(deps, imported, order, ledger, workers.spawnWorker(folder), signal)
    if (signal.aborted || outcome === 'died') return false
    if ('failure' in outcome) return await endWith(outcome.failure)
    // Before the import is complete, because this process may be killed right after it.
    if (outcome.result.step === 'push') {
      ledger.pushed = true
      await writeLedger(folder, ledger)
    }
    const next = await applyResult(deps, imported, order, outcome.result)
    if (next) await writeLedger(folder, { ...ledger, tries: 0, furthest: 0, found: true, origin: originOf(next) })
    return true
  } catch (error) {
    // An outage does not count as a failed attempt.
    if (error instanceof DatabaseUnavailable || error instanceof StorageUnavailable)
      await writeLedger(folder, { ...ledger, tries: Math.max(0, ledger.tries - 1) })
    if (signal.aborted) return false
    if (!(error instanceof ImportFailure)) throw error
    return await endWith({ kind: error.kind, message: error.message })
  }
}

const gaveUpMessage =
  'The import ended unexpectedly several times without progress. An administrator finds the reason in the log of this server.'

/** After a failure that the user can fix, the next run resumes from the folder. After a fault, it starts over. */
async function fail(deps: RunnerDeps, imported: Import, { kind, message }: Failure) {
  const event = kind === 'auth' ? 'auth_failed' : 'failed'
  await deps.db.transaction(async (transaction) => {
    const failed = await applyEvent(transaction, imported.id, imported.run, event, { message })
    // A correction of authors does not use the stage.
    if (failed && kind === 'fault' && imported.status !== 'complete') await deleteStage(transaction, imported.id)
  })
  if (kind === 'fault') await removeFolder(importsRoot(deps.data), imported.id)
}

/** The order for the next step of an import. `found` is whether detection succeeded in this run. */
async function buildOrder(deps: RunnerDeps, imported: Import, folder: string, found: boolean): Promise<Order> {
  const common = await commonOrder(deps, imported, folder)
  const { id, run, status, vcs, use_lfs, verify_all, repo_id } = imported
  const target = deps.storage.pathOf(repo_id)
  const corrections = () => deps.db.transaction((transaction) => takeCorrections(transaction, { id, run }))
  if (status === 'complete') return { ...common, step: 'correct', target, authors: await corrections() }
  // A kind that the user named is checked too.
  if (!vcs || status === 'detecting' || (status === 'importing' && !found)) return { ...common, step: 'detect', vcs }
  // A restarted import goes on where an earlier run ended.
  if (status === 'importing') return { ...common, step: 'import', vcs, extend: run > 1 }
  if (status === 'mapping') return { ...common, step: 'map', vcs, use_lfs, verify_all, authors: await corrections() }
  return { ...common, step: 'push', vcs, target, keep_stage: deps.keep_days > 0 }
}

async function commonOrder({ db, vault, files, addresses, certificates }: RunnerDeps, imported: Import, folder: string) {
  const { repo_id, vcs_url, svn_root, svn_ignore, gitattributes, svn_layout: layout, keep_deleted, tfvc_project } = imported
  const repo = await db.first<{ default_branch: string }>(sql`select default_branch from repositories where id = ${repo_id}`)
  if (!repo) throw new ImportFailure('The repository was deleted.')
  const properties = { svn_ignore, gitattributes }
  const origin = {
    url: vcs_url,
    ...readCredentials(vault, imported),
    svn_root,
    ...properties,
    layout,
    keep_deleted,
    tfvc_project,
  }
  return { origin, folder, default_branch: repo.default_branch, addresses, certificates, lfs_store: lfsStoreOf(files, folder) }
}

function readCredentials(vault: Vault, imported: Import) {
  try {
    return openCredentials(vault, imported)
  } catch {
    // The key that sealed them was replaced.
    throw new ImportFailure('The user name and password can no longer be decrypted. Send them again.', 'auth')
  }
}

/** Records the result of a step; undefined if the import is gone or was restarted. */
async function applyResult(deps: RunnerDeps, imported: Import, order: Order, result: Result): Promise<Import | undefined> {
  const { id, run, repo_id } = imported
  if (result.step === 'authors' || result.step === 'arrange' || result.step === 'preview')
    throw new Error('the server does not order this step')
  if (result.step === 'push') {
    const completed = await completeImport(deps, { id, run }, result)
    if (completed) await removeSent(deps.files, order.folder)
    return completed
  }
  if (result.step === 'correct') return completeCorrection(deps, { id, run }, result.refs)
  const [event, outcome] = eventFor(order, result)
  const objects = 'lfs_objects' in result ? result.lfs_objects : []
  await sendObjects(deps.files, order.folder, objects)
  return deps.db.transaction(async (transaction) => {
    const next = await applyEvent(transaction, id, run, event, outcome)
    // The objects are already in the store; this makes them readable through the repository.
    if (next) await addObjects(transaction, deps.files, repo_id, objects)
    return next
  })
}

function eventFor(
  { origin }: Order,
  result: Exclude<Result, { step: 'push' | 'correct' | 'authors' | 'arrange' | 'preview' }>,
): [RunEvent, Outcome] {
  if (result.step === 'import') {
    return ['imported', { commit_count: result.commit_count }]
  }
  if (result.step === 'map') {
    if ('waits_for_lfs' in result) return ['waits', { large_files: result.large_files }]
    const { default_branch, notes, remarks, left_out, verification, large_files } = result
    return ['mapped', { report: { default_branch, notes, remarks, left_out, verification }, large_files }]
  }
  if ('nothing' in result) return ['found_nothing', {}]
  if ('found_multiple' in result) return ['found_multiple', { project_choices: result.found_multiple }]
  // With credentials, they were refused; without, they are missing.
  if ('needs_auth' in result) return [origin.username === null && origin.password === null ? 'needs_auth' : 'auth_failed', {}]
  const { url, ...found } = result.found
  return ['found', { ...found, ...(url !== undefined && { vcs_url: url }) }]
}
