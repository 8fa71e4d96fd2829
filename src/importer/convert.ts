import { join } from 'node:path'
import { type Converted, ImportFailure, type Network, type Notes, type Workspace } from '#importer/source.ts'
import { openSource } from '#importer/sources.ts'
import { openEgress } from '#platform/outbound/egress.ts'
import { readPolicy } from '#platform/outbound/policy.ts'
import type { Order, Result } from './steps.ts'
import { type OnProgress, openWorkspace, readState, removeLocks, saveState } from './workspace.ts'

type Of<Step extends Order['step']> = Extract<Order, { step: Step }>

/** What the steps after it have to know of an earlier one. */
type Imported = Pick<Converted, 'default_branch' | 'notes'>
interface Mapped {
  default_branch: string
}

const originalRefs = 'refs/import/orig'

/** Does one step. What it needs is read when it comes to that: a worker does one of them, and is to be small. */
export async function runStep(
  order: Order,
  { signal, onProgress }: { signal: AbortSignal; onProgress: OnProgress },
): Promise<Result> {
  if (order.step === 'correct') return correct(order, signal)
  await using egress = await openEgress(readPolicy(order.addresses), order.certificates)
  const network = { egress, signal }
  // Each is waited for: without that, the way out would be closed before it is used.
  if (order.step === 'detect') return await detectKind(order, network)
  const workspace = await openWorkspace(order, network, onProgress)
  if (order.step === 'import') return await convert(order, workspace)
  return order.step === 'map' ? await map(order, workspace) : await push(order, workspace, onProgress)
}

async function detectKind({ origin, vcs }: Of<'detect'>, network: Network): Promise<Result> {
  const { detect } = await import('#importer/detection.ts')
  const found = await detect(origin, vcs, network)
  return found === 'needs_auth' ? { step: 'detect', needs_auth: true } : { step: 'detect', ...found }
}

async function convert({ origin, vcs }: Of<'import'>, workspace: Workspace): Promise<Result> {
  const source = await openSource(vcs)
  const { commit_count, ...imported } = await source.convert(origin, workspace)
  await saveState<Imported>(workspace.folder, 'imported', imported)
  return { step: 'import', commit_count }
}

async function map(order: Of<'map'>, workspace: Workspace): Promise<Result> {
  const { origin, vcs, use_lfs, authors, verify_all, lfs_store: store } = order
  const { repository, signal, folder } = workspace
  const imported = await loadState<Imported>(folder, 'imported')
  const source = await openSource(vcs)
  const arranged = await source.arrange?.(origin, workspace)
  const default_branch = arranged?.default_branch ?? imported.default_branch ?? order.default_branch
  const { findLargeFiles } = await import('#importer/staging/large-files.ts')
  // Only now: before there are branches, nobody can say on which of them a file is.
  const large_files = await findLargeFiles(repository, {
    from: originalRefs,
    signal,
    default_branch,
    blobs: arranged?.large_blobs,
  })
  if (large_files.length > 0 && use_lfs === 'undecided') return { step: 'map', waits_for_lfs: true, large_files }
  const { prepareRefs } = await import('#importer/staging/rewrite/prepare-refs.ts')
  const handling = use_lfs === 'undecided' ? undefined : { use_lfs, store }
  // The proof is of the originals, which stay as they are.
  const [verification, { objects }] = await Promise.all([
    source.verify(origin, workspace, verify_all),
    prepareRefs(repository, { signal, authors, large_files: handling }),
  ])
  await saveState<Mapped>(folder, 'mapped', { default_branch })
  const notes = [arranged?.notes ?? {}, verification.notes ?? {}].reduce(addNotes, imported.notes)
  const lfs_objects = [...(arranged?.lfs_objects ?? []), ...objects]
  return { step: 'map', default_branch, notes, verification, large_files, lfs_objects }
}

async function push(
  { vcs, target }: Of<'push'>,
  { repository, signal, folder }: Workspace,
  onProgress: OnProgress,
): Promise<Result> {
  const { default_branch } = await loadState<Mapped>(folder, 'mapped')
  const { publish } = await import('#importer/staging/publish.ts')
  // What came from Mercurial was written as it is to be; what was fetched by git is so as well, and was walked through.
  const [recompress, walked] = [vcs === 'subversion' || vcs === 'tfvc', vcs === 'git']
  await removeLocks(join(target, 'refs', 'import'))
  const { refs } = await publish(repository, target, {
    signal,
    recompress,
    walked,
    onProgress: (push_percent) => onProgress({ push_percent }),
  })
  return { step: 'push', refs, default_branch }
}

async function correct({ target, authors }: Of<'correct'>, signal: AbortSignal): Promise<Result> {
  const { rewriteHistory } = await import('#importer/staging/rewrite/rewrite-history.ts')
  const { refs } = await rewriteHistory(target, { from: originalRefs, signal, authors })
  return { step: 'correct', refs }
}

async function loadState<T>(folder: string, name: string): Promise<T> {
  const found = await readState<T>(folder, name)
  if (found === undefined) throw new ImportFailure('What was imported so far is not there any more. Restart the import.')
  return found
}

function addNotes(some: Notes, more: Notes): Notes {
  const names = [...new Set([...Object.keys(some), ...Object.keys(more)])]
  return Object.fromEntries(names.map((name) => [name, (some[name] ?? 0) + (more[name] ?? 0)]))
}
