import { lfsRoot } from '#git/lfs-store.ts'
import { addObjects } from '#hosting/lfs/objects.ts'
import type { Order, Result } from '#importer/steps.ts'
import { completeCorrection, completeImport } from '#parts/imports/complete-import.ts'
import type { Import } from '#parts/imports/import-row.ts'
import { applyEvent, type Outcome } from '#parts/imports/progress.ts'
import type { RunEvent } from '#parts/imports/states.ts'
import type { RunnerDeps } from './deps.ts'

/** Records the result of a step; undefined if the import is gone or was restarted. */
export async function applyResult(deps: RunnerDeps, imported: Import, order: Order, result: Result): Promise<Import | undefined> {
  const { id, run, repo_id } = imported
  if (result.step === 'push') return completeImport(deps, { id, run }, result)
  if (result.step === 'correct') return completeCorrection(deps, { id, run }, result.refs)
  const [event, outcome] = eventFor(order, result)
  const objects = 'lfs_objects' in result ? result.lfs_objects : []
  return deps.db.transaction(async (transaction) => {
    const next = await applyEvent(transaction, id, run, event, outcome)
    // The objects are already in the store; this makes them readable through the repository.
    if (next) await addObjects(transaction, lfsRoot(deps.data), repo_id, objects)
    return next
  })
}

function eventFor({ origin }: Order, result: Exclude<Result, { step: 'push' | 'correct' }>): [RunEvent, Outcome] {
  if (result.step === 'import') {
    return ['imported', { commit_count: result.commit_count }]
  }
  if (result.step === 'map') {
    if ('waits_for_lfs' in result) return ['waits', { large_files: result.large_files }]
    const { default_branch, notes, verification, large_files } = result
    return ['mapped', { report: { default_branch, notes, verification }, large_files }]
  }
  if ('nothing' in result) return ['found_nothing', {}]
  if ('found_multiple' in result) return ['found_multiple', { project_choices: result.found_multiple }]
  // With credentials, they were refused; without, they are missing.
  if ('needs_auth' in result) return [origin.username === null && origin.password === null ? 'needs_auth' : 'auth_failed', {}]
  const { url, ...found } = result.found
  return ['found', { ...found, ...(url !== undefined && { vcs_url: url }) }]
}

export function applyFailure({ db }: RunnerDeps, { id, run }: Import, event: 'failed' | 'auth_failed', message?: string) {
  return db.transaction((transaction) => applyEvent(transaction, id, run, event, message === undefined ? {} : { message }))
}
