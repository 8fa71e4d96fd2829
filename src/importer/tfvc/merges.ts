import type { Workspace } from '#importer/source.ts'
import { readMarks } from '#importer/staging/arrange/marks.ts'
import type { Change, Revision } from '#importer/staging/arrange/revisions.ts'
import { emptyTree } from '#importer/staging/arrange/root-history.ts'
import { stageGit } from '#importer/staging/git.ts'
import { createPathTree } from '#importer/staging/path-tree.ts'
import { type Line, marksFile } from './history.ts'

/**
 * TFVC merges files, git merges histories. A merge counts as one in git if it is complete: every file that changed in the source branch
 * since the last merge is the same in the target, or was changed by this merge.
 */
export interface Merges {
  /** Must be called for every revision in order. Returns the complete merges, and the number of partial ones. */
  classify(line: Line): Promise<{ whole: Change[]; single: number }>
}

export async function openMerges({ repository, folder }: Workspace, roots: string[]): Promise<Merges> {
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
