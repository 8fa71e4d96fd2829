import type { StoredObject } from '#git/lfs-store.ts'
import { runGit, streamGit } from '#git/run-git.ts'
import { stageLimit } from '#importer/staging/git.ts'
import { findLargeBlobs, findLargePaths } from '#importer/staging/large-files.ts'
import { openReader, readInOrder } from '#importer/staging/object-reader.ts'
import type { Correction } from '#importer/steps.ts'
import { openAuthorCorrections } from './author-lines.ts'
import { type Changes, rewriteCommit, rewriteTag } from './commits.ts'
import { removeLarge, storeInLfs } from './lfs-pointers.ts'
import { openPackWriter, type PackWriter } from './pack-writer.ts'
import { openTreeWalk } from './tree-walk.ts'

export interface RewriteOptions {
  /** The prefix of the branches and tags to start from, such as `refs/import/orig`. */
  from: string
  signal: AbortSignal
  authors?: Correction[]
  large_files?: LargeFileHandling
}

/** Large files are stored with LFS, together with all other versions of the same path, or removed from history. */
export interface LargeFileHandling {
  use_lfs: 'opt_in' | 'opt_out'
  store: string
  /** In bytes; a larger file is large. */
  over?: number
}

export interface Rewritten {
  /** Branches and tags by name, such as `refs/heads/main`. */
  refs: Record<string, string>
  /** The objects that were stored. */
  objects: StoredObject[]
}

/**
 * Rewrites a history with other authors or without large files, and moves no refs. Unchanged commits keep their ids; the same input gives
 * the same ids.
 */
export async function rewriteHistory(
  repository: string,
  { from, signal, authors = [], large_files }: RewriteOptions,
): Promise<Rewritten> {
  const refs = await readRefs(repository, from, signal)
  const search = { from, signal, ...(large_files?.over !== undefined && { over: large_files.over }) }
  const large = large_files ? await findLargeBlobs(repository, search) : new Map<string, number>()
  const correct = openAuthorCorrections(authors)
  if (!correct && !large.size) return { refs: Object.fromEntries(refs.map(({ ref, id }) => [ref, id])), objects: [] }
  const paths = await findLargePaths(repository, large, search)
  const packs = openPackWriter(repository, signal)
  await using reader = openReader(repository, signal)
  const kept = large_files?.use_lfs === 'opt_in' ? storeInLfs(large_files.store, reader, packs) : undefined
  const treatment = kept ?? removeLarge(large)
  // LFS does not store its own configuration.
  if (kept) for (const path of paths) if (/(^|\/)\.gitattributes$/.test(path)) paths.delete(path)
  const walk = paths.size ? openTreeWalk(paths, treatment, reader, packs) : undefined
  const replaced = new Map<string, string>()
  const changes: Changes = { correct, replace: (id) => replaced.get(id) }
  await rewriteCommits(repository, from, signal, changes, walk, replaced, packs)
  const rewritten: Record<string, string> = {}
  for (const { ref, id, type } of refs) {
    const replacement = await replacementOf(id, type)
    if (replacement !== null) rewritten[ref] = replacement
  }
  await packs.end()
  return { refs: rewritten, objects: kept?.objects() ?? [] }

  /** The new target of a ref or tag; null if the target was a large file that is removed. */
  async function replacementOf(id: string, type: string): Promise<string | null> {
    const known = replaced.get(id)
    if (known) return known
    if (type === 'tree') return walk ? walk(id) : id
    if (type === 'blob') return large.has(id) ? treatment.replace(id) : id
    if (type !== 'tag') return id
    const { data } = await reader.read(id)
    const [, object = '', kind = ''] = /^object (\w+)\ntype (\w+)\n/.exec(data.toString('latin1', 0, 200)) ?? []
    const replacement = await replacementOf(object, kind)
    if (replacement === null) return null
    const tag = rewriteTag(data, { ...changes, replace: () => (replacement === object ? undefined : replacement) })
    return tag ? packs.add('tag', tag) : id
  }
}

async function readRefs(repository: string, from: string, signal: AbortSignal) {
  const args = ['for-each-ref', '--format=%(objectname) %(objecttype) %(refname)', `${from}/heads/`, `${from}/tags/`]
  const { output } = await runGit(repository, args, { signal, detached: false, limit: stageLimit, whole: true })
  const lines = output.toString().matchAll(/^(\w+) (\w+) (.+)$/gm)
  return [...lines].map(([, id = '', type = '', name = '']) => ({ id, type, ref: name.replace(from, 'refs') }))
}

/** Parents first, so that their new ids are known. */
async function rewriteCommits(
  repository: string,
  from: string,
  signal: AbortSignal,
  changes: Changes,
  walk: ((tree: string) => Promise<string>) | undefined,
  replaced: Map<string, string>,
  packs: PackWriter,
) {
  const order = ['rev-list', '--topo-order', '--reverse', `--glob=${from}`]
  const names = streamGit(repository, order, { signal, detached: false })
  for await (const { id, data } of readInOrder(repository, names, signal)) {
    const tree = data.toString('latin1', 'tree '.length, data.indexOf(10))
    const walked = walk && (await walk(tree))
    const replace = (each: string) => (each === tree && walked !== tree ? walked : changes.replace(each))
    const commit = rewriteCommit(data, { ...changes, replace })
    if (!commit) continue
    replaced.set(id, packs.add('commit', commit))
    await packs.room()
  }
}
