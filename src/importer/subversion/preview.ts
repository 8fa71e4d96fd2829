import { ImportFailure, type LeftOut, type Preview } from '#importer/source.ts'
import { type LeftOutList, openLeftOut } from '#importer/staging/arrange/left-out.ts'
import { type PlannedRef, planRefs, type RefPlan } from '#importer/staging/arrange/ref-plan.ts'
import type { Revision } from '#importer/staging/arrange/revisions.ts'
import { findRootChanges } from '#importer/staging/arrange/root-changes.ts'
import { endsOf, openRootHistories, type RootHistory } from '#importer/staging/arrange/root-history.ts'
import { findRoots, type Root, type Strategy } from '#importer/staging/arrange/roots.ts'
import { isAliveFormer, openRestFilter, type RestFilter } from '#importer/staging/arrange/unassigned.ts'
import type { PathTree } from '#importer/staging/path-tree.ts'
import { readStoredLog } from './change-log.ts'
import { type FolderNode, find, findCopySources, type ReplayedRevision, replayLog } from './folder-tree.ts'
import { joinPath } from './layout.ts'
import { openClaim } from './parts.ts'
import type { Plan } from './plan.ts'

export interface PreviewOptions {
  folder: string
  plan: Plan
  strategy: Strategy
  default_branch: string
  keep_deleted: boolean
  /** Whether the user chose the layout. */
  chosen: boolean
  /** The revisions that were read, which tell about merges. */
  converted?: AsyncGenerator<Revision>
  /** Otherwise, the values of `svn:mergeinfo` of branches in the last revision, which name deleted branches too. */
  readMerges?: (roots: string[]) => Promise<Map<string, string>>
}

/**
 * Arranges the revisions as `arrange` does, from the stored log and without git: each tree is the number of its files. What no branch and
 * no tag reaches is left out.
 */
export async function previewHistory(options: PreviewOptions): Promise<Previewed> {
  const { folder, plan, strategy } = options
  const sources = await findCopySources(readStoredLog(folder, plan))
  const replay = () => replayLog(readStoredLog(folder, plan), sources)
  let tree: FolderNode = { files: 0, total: 0, folders: new Map() }
  async function* revisions() {
    for await (const replayed of replay()) {
      tree = replayed.tree
      yield replayed.revision
    }
  }
  const roots = await findRoots(strategy, revisions(), async (_, path) => foldersWithFiles(tree, path))
  const graph = openGraph()
  const { lines, applyChange } = openRootHistories(roots, graph.add)
  const treeOf = openTreeIds()
  const left = openLeftOut()
  const outside = openLeftOut()
  const merges = openMerges(options.converted)
  let commit_count = 0
  let last = 0
  const isOthers = openClaim(plan.part?.others ?? { folders: [], patterns: [] })
  const isOwn = (path: string) => !isOthers(path) && (roots.nearest(path) !== undefined || isIn(plan.project, path))
  for await (const replayed of replay()) {
    const { revision, refused } = replayed
    const { number } = revision
    last = number
    tree = replayed.tree
    await merges.addTo(revision)
    const { counts, others } = countByRoot(replayed, roots, plan.project, outside)
    // What was read may be more than the project.
    if (!plan.part || others || (!plan.part.rest && counts.size > 0)) commit_count++
    for (const path of refused) if (!plan.part || isOwn(path)) left.add(path, 'a name that git refuses', number)
    if (plan.part?.rest) continue
    graph.begin({ number, counts })
    for (const change of findRootChanges(revision, roots).rootChanges) applyChange(change, treeOf(find(tree, change.root)))
  }
  // Of a layout that was found, the trunk exists.
  const trunk = 'layout' in strategy ? strategy.layout.trunk : undefined
  if (options.chosen && trunk !== undefined && commit_count > 0 && (lines.get(trunk)?.states.length ?? 0) === 0)
    throw new ImportFailure(describeMissingTrunk(trunk, find(tree, plan.project)))
  const before = planRefs(lines, roots, options)
  const tips = (plan: RefPlan) => plan.refs.map(({ commit }) => commit)
  if (options.readMerges && graph.commits.length > graph.reach(tips(before)).size) {
    const branches = before.refs.filter(({ kind, at }) => kind === 'branch' && at === undefined).map(({ line }) => line.root)
    graph.begin({ number: last, counts: new Map() })
    for (const [root, mergeinfo] of await options.readMerges(branches)) {
      const merge: Revision = { ...noRevision, number: last, changes: [{ action: 'change', path: root, mergeinfo }] }
      for (const change of findRootChanges(merge, roots).rootChanges) applyChange(change, treeOf(find(tree, root)))
    }
  }
  const planned = planRefs(lines, roots, options)
  const filter = openRestFilter(roots, lines)
  const hasRest = filesOutside(find(tree, plan.project), plan.project, filter) > 0
  const unassigned = hasRest ? (plan.part?.rest ? options.default_branch : planned.unassigned()) : undefined
  const reached = graph.reach(tips(planned))
  for (const { root, number, count } of graph.commits.filter((_, place) => !reached.has(place))) {
    // A folder outside of the project belongs to another part.
    if ((unassigned !== undefined || plan.part) && isAliveFormer(root, roots, lines)) continue
    if (roots.get(root)?.kind === 'former' && isOthers(root)) continue
    left.add(root, reasonOf(lines.get(root), roots.get(root), number), number, count)
  }
  for (const { root, firstRevision, states } of lines.values())
    if (states.length === 0 && firstRevision && roots.get(root)?.kind !== 'former' && find(tree, root))
      left.add(root, 'empty', firstRevision.number, 0)
  const listed = [...left.list(), ...(unassigned === undefined ? outside.list() : [])]
  const named = (kind: PlannedRef['kind']) =>
    planned.refs.filter((ref) => ref.kind === kind).map(({ name, line }) => ({ name, path: line.root }))
  return {
    commit_count,
    branches: [...named('branch'), ...(unassigned === undefined ? [] : [{ name: unassigned, path: plan.project }])],
    tags: named('tag'),
    left_out: listed.toSorted((one, other) => one.revisions[0] - other.revisions[0]),
    ...(trunk !== undefined && !options.chosen && !plan.part && describeProjects(find(tree, trunk))),
    exists: (path) => find(tree, path) !== undefined,
    formers: roots.below('').filter((path) => roots.get(path)?.kind === 'former' && !isAliveFormer(path, roots, lines)),
  }
}

const noRevision: Revision = { number: 0, name: '', email: '', time: 0, message: '', changes: [], files: {} }

export interface Previewed extends Preview {
  /** The folders that no longer exist, of which branches are copies. */
  formers: string[]
  /** Whether a folder exists in the last revision. */
  exists(path: string): boolean
}

/** A trunk that has folders and no files may have several projects. */
function describeProjects(trunk: FolderNode | undefined): Pick<Preview, 'likely_projects'> {
  const names = [...(trunk?.folders ?? [])].flatMap(([name, { total }]) => (total > 0 ? [name] : []))
  return trunk?.files === 0 && names.length > 1 ? { likely_projects: names } : {}
}

function describeMissingTrunk(trunk: string, project: FolderNode | undefined) {
  const there = [...(project?.folders.keys() ?? [])].slice(0, 20).join(', ')
  return `The trunk of this layout never had a file: ${trunk || '/'}. Name another folder as the trunk. The project has: ${there || 'no folders'}.`
}

/** Git has no empty folders. */
function foldersWithFiles(tree: FolderNode, path: string): string[] {
  return [...(find(tree, path)?.folders ?? [])].flatMap(([name, { total }]) => (total > 0 ? [name] : []))
}

function reasonOf(line: RootHistory | undefined, root: Root | undefined, number: number): LeftOut['reason'] {
  if (root?.kind === 'former') return 'changed after it was copied'
  return (line && endsOf(line).find((end) => end.number > number)?.reason) ?? 'deleted'
}

/** Counts the changes of each root. Those of the project that are in no root are listed. */
function countByRoot(
  { revision, changed, tree }: ReplayedRevision,
  roots: PathTree<Root>,
  project: string,
  outside: LeftOutList,
) {
  const counts = new Map<string, number>()
  let others = false
  for (const { path, folder } of changed) {
    const root = roots.nearest(folder)
    if (root !== undefined) counts.set(root, (counts.get(root) ?? 0) + 1)
    else if (isIn(project, path) && !(folder === path && isOnlyRoots(path, roots, tree))) {
      outside.add(path, 'outside of branches and tags', revision.number)
      others = true
    }
  }
  return { counts, others }
}

/** Whether a folder of branches or a whole project was moved or deleted, and there is nothing else in it. */
function isOnlyRoots(path: string, roots: PathTree<Root>, tree: FolderNode) {
  const inner = roots.below(path)
  if (inner.length === 0) return false
  const node = find(tree, path)
  if (!node) return true
  const isRoot = new Set(inner)
  const above = new Set(inner.flatMap((root) => foldersBetween(path, root)))
  return filesOutside(node, path, { isRoot: (one) => isRoot.has(one), isAbove: (one) => above.has(one) }) === 0
}

function foldersBetween(path: string, root: string): string[] {
  const names = root.slice(path === '' ? 0 : path.length + 1).split('/')
  return names.map((_, place) => joinPath(path, ...names.slice(0, place)))
}

/** The number of files in a folder that are in no root. */
function filesOutside(node: FolderNode | undefined, path: string, filter: Pick<RestFilter, 'isRoot' | 'isAbove'>): number {
  if (!node || filter.isRoot(path)) return 0
  if (!filter.isAbove(path)) return node.total
  let { files } = node
  for (const [name, folder] of node.folders) files += filesOutside(folder, joinPath(path, name), filter)
  return files
}

const isIn = (folder: string, path: string) => folder === '' || path === folder || path.startsWith(`${folder}/`)

/** The commits that would be made, by number. */
function openGraph() {
  const commits: { root: string; number: number; count: number; parents: number[] }[] = []
  let current = { number: 0, counts: new Map<string, number>() }
  return {
    commits,
    begin(revision: typeof current) {
      current = revision
    },
    add({ root, parents }: { root: string; parents: string[] }): string {
      const count = current.counts.get(root) ?? 0
      return String(commits.push({ root, number: current.number, count, parents: parents.map(Number) }) - 1)
    },
    reach(heads: string[]): Set<number> {
      const reached = new Set<number>()
      const waiting = heads.map(Number)
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        if (reached.has(next)) continue
        reached.add(next)
        waiting.push(...(commits[next]?.parents ?? []))
      }
      return reached
    },
  }
}

/** An id for each folder that has files. Copies have the same one. */
function openTreeIds() {
  const ids = new WeakMap<FolderNode, string>()
  let last = 0
  return (node: FolderNode | undefined): string | undefined => {
    if (!node || node.total === 0) return undefined
    const known = ids.get(node)
    if (known) return known
    const id = String(++last)
    ids.set(node, id)
    return id
  }
}

/** Adds the values of `svn:mergeinfo`, which a log does not have. Both have the revisions in the same order. */
function openMerges(converted: AsyncGenerator<Revision> | undefined) {
  let next: Revision | undefined
  return {
    async addTo(revision: Revision) {
      if (!converted) return
      while (!next || next.number < revision.number) {
        const { done, value } = await converted.next()
        if (done) return
        next = value
      }
      if (next.number !== revision.number) return
      for (const { path, mergeinfo } of next.changes) {
        if (mergeinfo === undefined) continue
        const change = revision.changes.find((one) => one.path === path && one.action !== 'delete')
        if (change) change.mergeinfo = mergeinfo
        else revision.changes.push({ action: 'change', path, mergeinfo })
      }
    },
  }
}
