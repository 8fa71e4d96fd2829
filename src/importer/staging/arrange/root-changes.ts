import type { PathTree } from '#importer/staging/path-tree.ts'
import type { Revision } from './revisions.ts'
import type { Root } from './roots.ts'

/** The effect of a revision on one root. */
export interface RootChange {
  revision: Revision
  root: string
  /** The root begins here, whether or not the path existed before. */
  begins: boolean
  /** The folder and revision that the root is a copy of. */
  from: { number: number; path: string } | undefined
  /** A folder above was copied; the root may not have been in it. */
  along: boolean
  ends: boolean
  /** What was at the path is removed, also if the root begins again. */
  removes: boolean
  mergeinfo: string | undefined
  merges: { path: string; number: number }[]
}

export interface FoundChanges {
  rootChanges: RootChange[]
  /** The numbers of files outside of all roots, by folder. */
  outside: { folder: string; count: number }[]
  /** Whether the revision may change anything outside of all roots. */
  rest: boolean
}

export function findRootChanges(revision: Revision, roots: PathTree<Root>): FoundChanges {
  const changed = new Map<string, RootChange>()
  const outside: FoundChanges['outside'] = []
  let rest = false

  function changeOf(root: string): RootChange {
    const known = changed.get(root)
    if (known) return known
    const nothing = {
      begins: false,
      from: undefined,
      along: false,
      ends: false,
      removes: false,
      mergeinfo: undefined,
      merges: [],
    }
    const fresh: RootChange = { revision, root, ...nothing }
    changed.set(root, fresh)
    return fresh
  }

  for (const { action, path, from, mergeinfo, merges } of revision.changes) {
    const root = roots.nearest(path)
    const here = root === undefined ? undefined : changeOf(root)
    here?.merges.push(...(merges ?? []))
    if (here && root === path) {
      if (mergeinfo !== undefined) here.mergeinfo = mergeinfo
      here.removes ||= action === 'delete' || action === 'replace'
      if (action === 'delete') Object.assign(here, { ends: true, begins: false, from: undefined })
      else if (action !== 'change') Object.assign(here, { begins: true, ends: false, along: false, from })
    } else if (!here && (action === 'delete' || action === 'replace' || from)) {
      rest = true
      for (const inner of roots.below(path)) {
        const source = from && { number: from.number, path: (from.path + inner.slice(path.length)).replace(/^\//, '') }
        const state = source ? { begins: true, along: true, ends: false, from: source } : { ends: true, begins: false }
        Object.assign(changeOf(inner), state)
      }
    }
  }
  for (const [folder, count] of Object.entries(revision.files)) {
    const root = roots.nearest(folder)
    if (root !== undefined) changeOf(root)
    else outside.push({ folder, count })
  }
  return { rootChanges: [...changed.values()], outside, rest: rest || outside.length > 0 }
}
