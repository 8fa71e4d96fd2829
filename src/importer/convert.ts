import { existsSync } from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openEgress } from '#platform/outbound/egress.ts'
import { readPolicy } from '#platform/outbound/policy.ts'
import type { Notes } from './notes.ts'
import { type Author, type Converted, ImportFailure, maxRemarks, type Network, type Workspace } from './source.ts'
import { openSource } from './sources.ts'
import { stageGit } from './staging/git.ts'
import { readState, saveState } from './state-file.ts'
import type { Order, Result, WorkerProgress } from './steps.ts'

/** The entry of the importer: runs one step, as the workers of the server do. See `convertRepository` for all of them. */

export interface Running {
  signal: AbortSignal
  onProgress(progress: WorkerProgress): void
}

type Of<Step extends Order['step']> = Extract<Order, { step: Step }>

/** The state that later steps need from an earlier one. */
type Imported = Pick<Converted, 'default_branch' | 'notes' | 'remarks' | 'left_out'>
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
  if (order.step === 'authors') return await listAuthors(order, workspace)
  if (order.step === 'preview') return await preview(order, workspace)
  if (order.step === 'import') return await importHistory(order, workspace)
  if (order.step === 'arrange') return await arrange(order, workspace)
  return order.step === 'map' ? await map(order, workspace) : await push(order, workspace, onProgress)
}

async function detectKind({ origin, vcs }: Of<'detect'>, network: Network): Promise<Result> {
  const { detect } = await import('./detection.ts')
  const found = await detect(origin, vcs, network)
  return found === 'needs_auth' ? { step: 'detect', needs_auth: true } : { step: 'detect', ...found }
}

async function preview({ origin, vcs }: Of<'preview'>, workspace: Workspace): Promise<Result> {
  const source = await openSource(vcs)
  return { step: 'preview', preview: (await source.preview?.(origin, { ...workspace, extend: true })) ?? null }
}

async function listAuthors({ origin, vcs }: Of<'authors'>, workspace: Workspace): Promise<Result> {
  const source = await openSource(vcs)
  if (source.listAuthors) return { step: 'authors', authors: await source.listAuthors(origin, workspace) }
  const authors: Author[] = []
  await source.convert(origin, { ...workspace, onProgress: (progress) => authors.push(...(progress.authors ?? [])) })
  return { step: 'authors', authors }
}

async function importHistory({ origin, vcs, extend = false }: Of<'import'>, workspace: Workspace): Promise<Result> {
  const source = await openSource(vcs)
  const { commit_count, parts, ...imported } = await source.convert(origin, { ...workspace, extend })
  await saveState<Imported>(workspace.history, 'imported', imported)
  const { notes, remarks = [] } = imported
  return { step: 'import', commit_count, notes, remarks, ...(parts && { parts }) }
}

async function arrange({ origin, vcs }: Of<'arrange'>, workspace: Workspace): Promise<Result> {
  const imported = await loadState<Imported>(workspace.history, 'imported')
  const arranged = await (await openSource(vcs)).arrange?.(origin, workspace)
  const list = ['-C', workspace.repository, 'for-each-ref', '--format=%(objectname) %(refname)', `${originalRefs}/`]
  const listed = [...(await stageGit(list)).matchAll(/^(\w+) (.+)$/gm)]
  const refs = Object.fromEntries(listed.map(([, id = '', ref = '']) => [ref.replace(originalRefs, 'refs'), id]))
  return { step: 'arrange', refs, left_out: [...(imported.left_out ?? []), ...(arranged?.left_out ?? [])] }
}

async function map(order: Of<'map'>, workspace: Workspace): Promise<Result> {
  const { origin, vcs, use_lfs, large_over: over, authors, verify_all, lfs_store: store } = order
  const { repository, signal, folder, history, part } = workspace
  const imported = await loadState<Imported>(history, 'imported')
  const source = await openSource(vcs)
  const arranged = await source.arrange?.(origin, workspace)
  const default_branch = arranged?.default_branch ?? imported.default_branch ?? order.default_branch
  const { findLargeFiles } = await import('./staging/large-files.ts')
  // After the branches are made, because each file is listed with a branch that has it.
  const search = { from: originalRefs, signal, default_branch }
  const known = over === undefined ? { blobs: arranged?.large_blobs } : { over }
  const large_files = use_lfs === 'keep' ? [] : await findLargeFiles(repository, { ...search, ...known })
  if (large_files.length > 0 && use_lfs === 'undecided') return { step: 'map', waits_for_lfs: true, large_files }
  const { prepareRefs } = await import('./staging/rewrite/prepare-refs.ts')
  const handling =
    use_lfs === 'opt_in' || use_lfs === 'opt_out' ? { use_lfs, store, ...(over !== undefined && { over }) } : undefined
  const edits = order.edits && (await (await import('./conversion/edits.ts')).openEdits(order.edits, vcs, workspace))
  // Both at the same time: verification reads the original refs, which do not change.
  const [{ remarks: found = [], ...verified }, { objects, dropped, compared }] = await Promise.all([
    source.verify(origin, workspace, verify_all),
    prepareRefs(repository, { signal, authors, large_files: handling, edits, compare_all: verify_all }),
  ])
  const edited = compared && { edited: compared.commits, mismatches: [...verified.mismatches, ...compared.mismatches] }
  const verification = { ...verified, ...edited }
  await saveState<Mapped>(folder, 'mapped', { default_branch })
  // What was counted while reading is of all parts.
  const read = part === undefined ? imported.notes : {}
  const notes = [arranged?.notes ?? {}, verification.notes ?? {}].reduce(addNotes, read)
  const lfs_objects = [...(arranged?.lfs_objects ?? []), ...objects]
  const left_out = [...(imported.left_out ?? []), ...(arranged?.left_out ?? [])]
  const remarks = [...(part === undefined ? (imported.remarks ?? []) : []), ...found].slice(0, maxRemarks)
  return { step: 'map', default_branch, notes, remarks, left_out, verification, large_files, lfs_objects, dropped }
}

async function push(
  { vcs, target, keep_originals = true, keep_stage = false }: Of<'push'>,
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
    keep_originals,
    onProgress: (push_percent) => onProgress({ push_percent }),
  })
  // Packs of the other kinds are small already.
  if (keep_stage && recompress) await (await import('./staging/compact.ts')).compactStage(repository, [target], signal)
  const tips = [...new Set(Object.values(refs))]
  const count = ['-C', target, 'rev-list', '--count', '--stdin']
  const commits = tips.length === 0 ? 0 : Number(await stageGit(count, { input: `${tips.join('\n')}\n` }))
  return { step: 'push', refs, default_branch, commits }
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
  const sums: Record<string, number> = { ...some }
  for (const [name, count] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + count
  return sums
}

/** Opens the folder of an import and the bare repository in it. */
async function openWorkspace(
  { folder, history = folder, part, default_branch, lfs_store }: Order,
  network: Network,
  onProgress: (progress: WorkerProgress) => void,
): Promise<Workspace> {
  const repository = join(history, 'stage.git')
  if (!existsSync(repository)) {
    // Renamed when it is complete, because a worker can be killed at any time.
    const draft = `${repository}.new`
    await rm(draft, { recursive: true, force: true })
    await stageGit(['init', '--quiet', '--bare', '--template=', `--initial-branch=${default_branch}`, draft])
    await rename(draft, repository)
  }
  await removeLocks(repository)
  return { ...network, folder, history, ...(part !== undefined && { part }), repository, lfs_store, default_branch, onProgress }
}

/** Removes the lock files of a killed git. One worker at a time writes these refs, so no other process holds the locks. */
async function removeLocks(folder: string) {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  for (const name of names) if (leftoverLock.test(name)) await rm(join(folder, name), { force: true })
}

/** Git writes no new packed-refs file while `packed-refs.new` exists. */
const leftoverLock = /\.lock$|^packed-refs\.new$/
