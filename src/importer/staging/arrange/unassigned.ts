import { runGit } from '#git/run-git.ts'
import { stageLimit } from '#importer/staging/git.ts'
import { openReader } from '#importer/staging/object-reader.ts'
import type { PathTree } from '#importer/staging/path-tree.ts'
import type { PackWriter } from '#importer/staging/rewrite/pack-writer.ts'
import { readRevisions } from './revisions.ts'
import { describeCommit, emptyTree, type RootHistory } from './root-history.ts'
import type { Root } from './roots.ts'

/** The roots that are not part of the rest of a project, and the folders above them. */
export interface RestFilter {
  isRoot(path: string): boolean
  isAbove(path: string): boolean
  roots: string[]
}

/** A folder that a branch was once copied from, and that still exists, belongs to the rest. */
export function openRestFilter(roots: PathTree<Root>, lines: Map<string, RootHistory>): RestFilter {
  const all = [...(roots.get('') ? [''] : []), ...roots.below('')].filter((path) => !isAliveFormer(path, roots, lines))
  const excluded = new Set(all)
  const above = new Set<string>()
  for (const path of all)
    for (let end = path.lastIndexOf('/'); ; end = path.lastIndexOf('/', end - 1)) {
      above.add(path.slice(0, Math.max(end, 0)))
      if (end <= 0) break
    }
  return { isRoot: (path) => excluded.has(path), isAbove: (path) => above.has(path), roots: all }
}

export function isAliveFormer(path: string, roots: PathTree<Root>, lines: Map<string, RootHistory>) {
  return roots.get(path)?.kind === 'former' && lines.get(path)?.states.at(-1)?.commit !== undefined
}

interface RestOptions {
  repository: string
  signal: AbortSignal
  /** The file of the revisions, and their commits. */
  revisions: string
  commitOf(number: number): string
  /** The folder whose rest it is. */
  project: string
  filter: RestFilter
  /** The revisions that may change the rest, and the last revision of all. */
  numbers: Set<number>
  /** Those that change a file of the rest, perhaps only its properties. They have a commit in any case. */
  touched: Set<number>
  last: number
  pack: PackWriter
}

/** Makes commits of the files of a project that are in no branch and no tag, if any of them still exist. */
export async function addRest(options: RestOptions): Promise<{ number: number; commit: string }[]> {
  const { repository, signal, revisions, commitOf, project, filter, numbers, touched, last, pack } = options
  if (numbers.size === 0 || [...foldersTo(project)].some(filter.isRoot)) return []
  const wanted = [...numbers, last]
  const found = await findTrees(
    repository,
    signal,
    wanted.map((number) => `${commitOf(number)}:${project}`),
  )
  const trees = new Map(wanted.map((number, place) => [number, found[place]]))
  await using reader = openReader(repository, signal)

  async function filtered(tree: string | undefined, path: string): Promise<string | undefined> {
    if (tree === undefined || !filter.isAbove(path)) return tree
    const { data } = await reader.read(tree)
    const kept: Buffer[] = []
    for (const { name, mode, id, bytes } of readEntries(data)) {
      const here = path === '' ? name : `${path}/${name}`
      // A file may have the path of a former branch.
      if (mode === '40000' && filter.isRoot(here)) continue
      const rest = mode === '40000' ? await filtered(id, here) : id
      if (rest === id) kept.push(bytes)
      else if (rest !== undefined) kept.push(Buffer.from(`40000 ${name}\0`), Buffer.from(rest, 'hex'))
    }
    return kept.length > 0 ? pack.add('tree', Buffer.concat(kept)) : undefined
  }

  if ((await filtered(trees.get(last), project)) === undefined) return []
  const commits: { number: number; commit: string }[] = []
  let head: { tree: string; commit: string } | undefined
  for await (const revision of readRevisions(revisions)) {
    if (!numbers.has(revision.number)) continue
    const tree = (await filtered(trees.get(revision.number), project)) ?? emptyTree
    if (tree === (head?.tree ?? emptyTree) && !(head && touched.has(revision.number))) continue
    const commit = pack.add('commit', describeCommit({ revision, tree, parents: head ? [head.commit] : [] }))
    head = { tree, commit }
    commits.push({ number: revision.number, commit })
    await pack.room()
  }
  return commits
}

function* foldersTo(path: string) {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) yield path.slice(0, end)
  yield ''
}

/** The ids of trees by name, in order; undefined where there is none. */
export async function findTrees(repository: string, signal: AbortSignal, names: string[]): Promise<(string | undefined)[]> {
  if (names.length === 0) return []
  const { output } = await runGit(repository, ['cat-file', '--batch-check=%(objectname) %(objecttype)', '--buffer'], {
    signal,
    detached: false,
    input: names.map((name) => `${name}\n`).join(''),
    limit: stageLimit,
    whole: true,
  })
  return output
    .toString()
    .split('\n')
    .map((line) => /^([0-9a-f]{40}) tree$/.exec(line)?.[1])
}

function* readEntries(data: Buffer) {
  for (let at = 0; at < data.length; ) {
    const space = data.indexOf(32, at)
    const zero = data.indexOf(0, space)
    const end = zero + 21
    yield {
      name: data.toString('utf8', space + 1, zero),
      mode: data.toString('latin1', at, space),
      id: data.toString('hex', zero + 1, end),
      bytes: data.subarray(at, end),
    }
    at = end
  }
}
