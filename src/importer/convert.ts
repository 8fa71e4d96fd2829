import { existsSync } from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openEgress } from '#platform/outbound/egress.ts'
import { readPolicy } from '#platform/outbound/policy.ts'
import { type Converted, ImportFailure, type Kind, type Network, type Notes, type Origin, type Workspace } from './source.ts'
import { openSource } from './sources.ts'
import { stageGit } from './staging/git.ts'
import { readState, saveState } from './state-file.ts'
import type { Order, Result, StepContext, WorkerProgress } from './steps.ts'

/**
 * The entry of the importer. `runStep` runs one step, as the workers of the server do; `convertRepository` runs all of them.
 * Neither needs a database or a server.
 */

interface Running {
  signal: AbortSignal
  onProgress(progress: WorkerProgress): void
}

type Of<Step extends Order['step']> = Extract<Order, { step: Step }>

/** The state that later steps need from an earlier one. */
type Imported = Pick<Converted, 'default_branch' | 'notes'>
interface Mapped {
  default_branch: string
}

const originalRefs = 'refs/import/orig'

/** Modules are loaded on demand: a worker runs few steps and should stay small. */
export async function runStep(order: Order, { signal, onProgress }: Running): Promise<Result> {
  if (order.step === 'correct') return correct(order, signal)
  await using egress = await openEgress(readPolicy(order.addresses), order.certificates)
  const network = { egress, signal }
  // Awaited here, because the egress closes when this function returns.
  if (order.step === 'detect') return await detectKind(order, network)
  const workspace = await openWorkspace(order, network, onProgress)
  if (order.step === 'import') return await importHistory(order, workspace)
  return order.step === 'map' ? await map(order, workspace) : await push(order, workspace, onProgress)
}

async function detectKind({ origin, vcs }: Of<'detect'>, network: Network): Promise<Result> {
  const { detect } = await import('./detection.ts')
  const found = await detect(origin, vcs, network)
  return found === 'needs_auth' ? { step: 'detect', needs_auth: true } : { step: 'detect', ...found }
}

async function importHistory({ origin, vcs }: Of<'import'>, workspace: Workspace): Promise<Result> {
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
  const { findLargeFiles } = await import('./staging/large-files.ts')
  // After the branches are made, because each file is listed with a branch that has it.
  const large_files = await findLargeFiles(repository, {
    from: originalRefs,
    signal,
    default_branch,
    blobs: arranged?.large_blobs,
  })
  if (large_files.length > 0 && use_lfs === 'undecided') return { step: 'map', waits_for_lfs: true, large_files }
  const { prepareRefs } = await import('./staging/rewrite/prepare-refs.ts')
  const handling = use_lfs === 'undecided' ? undefined : { use_lfs, store }
  // Both at the same time: verification reads the original refs, which do not change.
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
  onProgress: Running['onProgress'],
): Promise<Result> {
  const { default_branch } = await loadState<Mapped>(folder, 'mapped')
  const { publish } = await import('./staging/publish.ts')
  // Packs from Mercurial and git are compressed well. Those from git were also checked for missing objects by the fetch.
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
  const { rewriteHistory } = await import('./staging/rewrite/rewrite-history.ts')
  const { refs } = await rewriteHistory(target, { from: originalRefs, signal, authors })
  return { step: 'correct', refs }
}

async function loadState<T>(folder: string, name: string): Promise<T> {
  const found = await readState<T>(folder, name)
  if (found === undefined) throw new ImportFailure('The files of the earlier steps are gone. Restart the import.')
  return found
}

function addNotes(some: Notes, more: Notes): Notes {
  const names = [...new Set([...Object.keys(some), ...Object.keys(more)])]
  return Object.fromEntries(names.map((name) => [name, (some[name] ?? 0) + (more[name] ?? 0)]))
}

export interface Conversion extends StepContext, Running {
  /** Detected if null. */
  vcs: Kind | null
  use_lfs: 'opt_in' | 'opt_out'
  verify_all: boolean
  /** An empty bare repository, on the same disk as `folder`. */
  target: string
}

/** Converts a repository as a whole: detects its kind, imports and maps it, and publishes it into `target`. */
export async function convertRepository({ signal, onProgress, target, use_lfs, verify_all, vcs: named, ...context }: Conversion) {
  const running = { signal, onProgress }
  const { vcs, ...found } = await detectOne({ ...context, step: 'detect', vcs: named }, running)
  const origin: Origin = { ...context.origin, ...found }
  const common = { ...context, origin, vcs }
  await runStep({ ...common, step: 'import' }, running)
  const mapped = await runStep({ ...common, step: 'map', use_lfs, authors: [], verify_all }, running)
  const pushed = await runStep({ ...common, step: 'push', target }, running)
  if (mapped.step !== 'map' || 'waits_for_lfs' in mapped || pushed.step !== 'push') throw new Error('a step has no result')
  const { refs, default_branch } = pushed
  const input = Object.entries(refs).map(([ref, id]) => `create ${ref} ${id}\n`)
  await stageGit(['-C', target, 'update-ref', '--stdin'], { input: input.join('') })
  await stageGit(['-C', target, 'symbolic-ref', 'HEAD', `refs/heads/${default_branch}`])
  return { vcs, refs, default_branch, notes: mapped.notes, verification: mapped.verification, large_files: mapped.large_files }
}

async function detectOne(order: Of<'detect'>, running: Running) {
  const result = await runStep(order, running)
  if ('found' in result) return result.found
  if ('found_multiple' in result) {
    const names = result.found_multiple.map(({ human_name }) => human_name).join(', ')
    throw new ImportFailure(`Several projects are at this address. Choose one of them: ${names}.`)
  }
  if ('needs_auth' in result) throw new ImportFailure('The source asks for a user name and a password.', 'auth')
  throw new ImportFailure('There is no repository at this address that can be imported.')
}

/** Opens the folder of an import and the bare repository in it. */
async function openWorkspace(
  { folder, default_branch, lfs_store }: Order,
  network: Network,
  onProgress: (progress: WorkerProgress) => void,
): Promise<Workspace> {
  const repository = join(folder, 'stage.git')
  if (!existsSync(repository)) {
    // Renamed when it is complete, because a worker can be killed at any time.
    const draft = `${repository}.new`
    await rm(draft, { recursive: true, force: true })
    await stageGit(['init', '--quiet', '--bare', '--template=', `--initial-branch=${default_branch}`, draft])
    await rename(draft, repository)
  }
  await removeLocks(repository)
  return { ...network, folder, repository, lfs_store, default_branch, onProgress }
}

/** Removes the lock files of a killed git. One worker at a time writes these refs, so no other process holds the locks. */
async function removeLocks(folder: string) {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  for (const name of names) if (leftoverLock.test(name)) await rm(join(folder, name), { force: true })
}

/** Git writes no new packed-refs file while `packed-refs.new` exists. */
const leftoverLock = /\.lock$|^packed-refs\.new$/
