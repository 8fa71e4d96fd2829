import { existsSync, readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Arranged, Origin, Workspace } from '#importer/source.ts'
import { arrange as arrangeRevisions, type Recorded } from '#importer/staging/arrange/arrange.ts'
import { readMarks } from '#importer/staging/arrange/marks.ts'
import { type Change, type Revision, readRevisions } from '#importer/staging/arrange/revisions.ts'
import { emptyTree } from '#importer/staging/arrange/root-history.ts'
import { stageGit } from '#importer/staging/git.ts'
import { createPathTree } from '#importer/staging/path-tree.ts'
import { cleanRefName } from '#importer/staging/ref-names.ts'
import { mainBranch, readBranches } from './branches.ts'
import { type Line, marksFile, revisionsFile } from './history.ts'

export const recordFile = (folder: string) => join(folder, 'arranged.jsonl')

/** Makes a branch of each folder that is a branch in the source; if there are none, of the whole project. */
export async function arrange(_: Origin, workspace: Workspace): Promise<Arranged> {
  const { folder, repository, signal } = workspace
  const branches = readBranches(folder)
  const main = mainBranch(branches)
  const others = branches.filter((branch) => branch !== main).map(({ path }) => path)
  const roots = main ? [main.path, ...others] : ['']
  const former = main ? await formerRoots(revisionsFile(folder), roots) : []
  const all = [...roots, ...former]
  const classified = join(folder, 'judged.jsonl')
  const partial = await classifyMerges(workspace, all, classified)
  const { notes, ...arranged } = await arrangeRevisions({
    repository,
    revisions: classified,
    marks: marksFile(folder),
    record: recordFile(folder),
    strategy: { list: all.map((path) => ({ path, name: path })) },
    default_branch: main ? cleanRefName(main.path) : workspace.default_branch,
    signal,
  })
  return { ...arranged, notes: { ...notes, ...(partial > 0 && { 'merges of single changes': partial }) } }
}

/** The former paths of renamed branches. */
async function formerRoots(file: string, roots: string[]): Promise<string[]> {
  const renames: Rename[] = []
  for await (const { changes } of readRevisions(file)) renames.push(...findRenames(changes))
  return followRenames(renames, roots)
}

export interface Rename {
  from: string
  to: string
}

/** The renamed folders of a revision. */
export function findRenames(changes: Change[]): Rename[] {
  const gone = new Set(changes.filter(({ action }) => action === 'delete').map(({ path }) => path))
  const isRename = ({ action, from }: Change) => action === 'add' && from !== undefined && gone.has(from.path)
  return changes.filter(isRename).map(({ path, from }) => ({ from: from?.path ?? '', to: path }))
}

/** The former paths of folders. Renames, given in their order, are followed from the last to the first. */
export function followRenames(renames: Rename[], roots: string[]): string[] {
  const known = [...roots]
  const touches = (path: string) => known.some((root) => `${path}/`.startsWith(`${root}/`) || root.startsWith(`${path}/`))
  for (const { from, to } of renames.toReversed()) {
    for (const root of [...known]) {
      const path = root === to || root.startsWith(`${to}/`) ? from + root.slice(to.length) : undefined
      if (path && !touches(path)) known.push(path)
    }
  }
  return known.slice(roots.length)
}

/** Writes the revisions again with the merges that git can represent. Returns the number of other merges. */
async function classifyMerges(workspace: Workspace, roots: string[], file: string): Promise<number> {
  const merges = await openMerges(workspace, roots)
  await using output = await open(file, 'w', 0o600)
  let partial = 0
  for await (const line of readRevisions(revisionsFile(workspace.folder)) as AsyncIterable<Line>) {
    const { whole, single } = await merges.classify(line)
    partial += single
    const changes = line.changes.filter(({ merges: merged }) => merged === undefined)
    await output.write(`${JSON.stringify({ ...line, changes: [...changes, ...whole] })}\n`)
  }
  return partial
}

export function readArranged(folder: string): { ref: string; root: string }[] {
  const file = recordFile(folder)
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
  return lines.flatMap((line): { ref: string; root: string }[] => {
    const recorded: Recorded = JSON.parse(line)
    return 'ref' in recorded ? [{ ref: recorded.ref, root: recorded.root }] : []
  })
}

/**
 * TFVC merges files, git merges histories. A merge counts as one in git if it is complete: every file that changed in the source branch
 * since the last merge is the same in the target, or was changed by this merge.
 */
async function openMerges({ repository, folder }: Workspace, roots: string[]) {
  const commitOf = await readMarks(marksFile(folder))
  const rootTree = createPathTree<true>()
  for (const root of roots) rootTree.set(root, true)
  const numbers: number[] = []
  /** The last merged changeset, by target and source branch. */
  const upTo = new Map<string, Map<string, number>>()

  function begin({ number, changes }: Revision) {
    for (const { action, path, from } of changes) {
      if (action !== 'add') continue
      for (const root of [path, ...rootTree.below(path)]) {
        if (rootTree.nearest(root) !== root) continue
        const source = from && rootTree.nearest(from.path + root.slice(path.length))
        upTo.set(root, new Map(source !== undefined && from ? [...(upTo.get(source) ?? []), [source, from.number]] : []))
        // The source of a new branch has nothing to merge from it.
        for (const [other, known] of upTo) {
          known.delete(root)
          if (other === source) known.set(root, number)
        }
      }
    }
  }

  /** Must be called for every revision in order. Returns the complete merges, and the number of partial ones. */
  async function classify(line: Line) {
    begin(line)
    const whole: Change[] = []
    let single = 0
    for (const [into, sources] of mergesOf(line, (path) => rootTree.nearest(path))) {
      for (const [source, number] of sources) {
        const known = upTo.get(into) ?? new Map<string, number>()
        const since = known.get(source) ?? 0
        if (number <= since) continue
        const isWhole = await comesWhole(line, into, source, since, number)
        if (isWhole) {
          known.set(source, number)
          upTo.set(into, known)
          whole.push({ action: 'change', path: into, merges: [{ path: source, number }] })
        } else single += 1
      }
    }
    numbers.push(line.number)
    return { whole, single }
  }

  async function comesWhole(line: Line, into: string, source: string, since: number, number: number) {
    const before = treeAt(source, since)
    const after = treeAt(source, number)
    const now = `${commitOf(line.number)}:${into}`
    if (after === undefined) return false
    const changed = await differing(before, after)
    const other = new Set(await differing(after, now))
    const left = changed.filter((path) => other.has(path))
    if (left.length === 0) return changed.length > 0
    const resolved = new Set(await differing(treeAt(into, line.number - 1), now))
    for (const path of line.discarded ?? []) if (path.startsWith(`${into}/`)) resolved.add(path.slice(into.length + 1))
    return left.every((path) => resolved.has(path))
  }

  /** The folder after a changeset, or after the last one before it. */
  function treeAt(path: string, number: number): string | undefined {
    const last = numbers.findLast((each) => each <= number)
    return last === undefined ? undefined : `${commitOf(last)}:${path}`
  }

  /** The files that differ between two trees. A missing tree is empty. */
  async function differing(one: string | undefined, other: string): Promise<string[]> {
    const compare = (...trees: string[]) =>
      stageGit(['-C', repository, 'diff-tree', '-r', '-z', '--name-only', '--no-renames', ...trees])
    const listed = await compare(one ?? emptyTree, other).catch(async () =>
      compare(await treeId(repository, one), await treeId(repository, other)),
    )
    return listed.split('\0').slice(0, -1)
  }

  return { classify }
}

/** The merges of a revision: the last changeset by target and source branch. */
function mergesOf({ changes }: Revision, rootOf: (path: string) => string | undefined) {
  const found = new Map<string, Map<string, number>>()
  for (const { path, merges = [] } of changes) {
    const into = rootOf(path)
    for (const merge of merges) {
      const source = rootOf(merge.path)
      if (into === undefined || source === undefined || source === into) continue
      const sources = found.get(into) ?? new Map<string, number>()
      found.set(into, sources)
      sources.set(source, Math.max(sources.get(source) ?? 0, merge.number))
    }
  }
  return found
}

async function treeId(repository: string, tree: string | undefined): Promise<string> {
  if (tree === undefined) return emptyTree
  return (await stageGit(['-C', repository, 'rev-parse', '--verify', '--quiet', tree]).catch(() => '')).trim() || emptyTree
}
