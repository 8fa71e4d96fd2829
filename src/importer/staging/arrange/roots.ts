import { createPathTree, type PathTree } from '#importer/staging/path-tree.ts'
import { isPattern, type PathPattern, parsePatterns } from './path-pattern.ts'
import type { Change, Revision } from './revisions.ts'

/** A folder whose history becomes a branch or tag. */
export interface Root {
  /** A claimed folder belongs to another repository. */
  kind: 'trunk' | 'branch' | 'tag' | 'former' | 'claimed'
  /** The name of the branch or tag. */
  name: string
}

/** How branches and tags are found. */
export type Strategy =
  /** A list of folders; the first is the default branch. */
  | { list: { path: string; name: string }[] }
  /** The trunk, and the folders whose subfolders are branches or tags, or patterns of branches or tags; see `path-pattern.ts`. */
  | { layout: { trunk: string; branches: string[]; tags: string[] } }
  /** No branches and tags: only what is outside of these folders is wanted. */
  | { claimed: Claim }

/** Folders, and patterns of folders; see `path-pattern.ts`. */
export interface Claim {
  folders: string[]
  patterns: string[]
}

/** The names of the subfolders of a folder in a revision. */
export type ListFolders = (number: number, path: string) => Promise<string[]>

/** The greatest depth below `branches` of a branch that is not a copy of another. */
const deepest = 3

export async function findRoots(
  strategy: Strategy,
  revisions: AsyncIterable<Revision>,
  listFolders: ListFolders,
): Promise<PathTree<Root>> {
  if ('list' in strategy) {
    const roots = createPathTree<Root>()
    for (const [place, { path, name }] of strategy.list.entries())
      roots.set(path, { kind: place === 0 ? 'trunk' : 'branch', name })
    return roots
  }
  const found = createPathTree<true>()
  if ('claimed' in strategy) {
    const { folders, patterns } = strategy.claimed
    for (const folder of folders) found.set(folder, true)
    const search = openSearch({ trunk: '', branches: patterns, tags: [] }, found, listFolders)
    for await (const revision of revisions) await search.read(revision)
    const roots = createPathTree<Root>()
    for (const path of found.below('')) roots.set(path, { kind: 'claimed', name: path })
    return roots
  }
  const { layout } = strategy
  found.set(layout.trunk, true)
  const search = openSearch(layout, found, listFolders)
  for await (const revision of revisions) await search.read(revision)
  search.settle()
  const former = findFormer(layout.trunk, found, search.copies)
  return describeRoots(layout, found, former)
}

type Layout = Extract<Strategy, { layout: unknown }>['layout']

function openSearch({ branches, tags }: Layout, found: PathTree<true>, listFolders: ListFolders) {
  const bases = [...branches, ...tags].filter((folder) => !isPattern(folder))
  const patterns = parsePatterns([...branches, ...tags])
  const isBase = new Set(bases)
  /** Candidates: a folder is a branch if it has files, or has no branches in it. */
  const made = new Map<string, { files: boolean; folders: string[] }>()
  /** The sources of copies, by target. */
  const copies = new Map<string, Set<string>>()

  async function read({ number, changes, files }: Revision) {
    for (const change of changes) {
      if (change.action === 'delete') continue
      addMatches(change.path)
      if (change.from) await readCopy(number, change, change.from)
      else if (change.action !== 'change') readFolder(change)
    }
    for (const folder of Object.keys(files)) {
      addMatches(folder)
      const candidate = made.get(folder)
      if (candidate) candidate.files = true
    }
  }

  async function readCopy(number: number, { path }: Change, from: NonNullable<Change['from']>) {
    const sources = copies.get(path)
    if (sources) sources.add(from.path)
    else copies.set(path, new Set([from.path]))
    for (const base of bases) {
      // The project was moved with all its branches.
      if (base !== path && !base.startsWith(`${path}/`)) continue
      for (const name of await listFolders(number, base)) addRoot(`${base}/${name}`)
    }
    for (const pattern of patterns) await addCopied(number, pattern, path)
    if (!bases.some((base) => path.startsWith(`${base}/`)) || found.nearest(path) !== undefined) return
    if (found.get(from.path)) return addRoot(path)
    if (!isPlace(path)) return
    const inner = found.below(from.path)
    if (inner.length === 0) return addRoot(path)
    // A folder of branches was copied with the branches in it.
    addFolder(path)
    for (const root of inner) addRoot(path + root.slice(from.path.length))
  }

  function readFolder({ path }: Change) {
    if (isPlace(path) && found.nearest(path) === undefined) addFolder(path)
  }

  function addMatches(path: string) {
    for (const pattern of patterns) {
      const root = pattern.match(path)
      if (root !== undefined) addRoot(root)
    }
  }

  /** The branches in a copied folder. */
  async function addCopied(number: number, pattern: PathPattern, path: string) {
    if (!pattern.isAbove(path)) return
    for (const name of await listFolders(number, path)) {
      const folder = joined(path, name)
      addMatches(folder)
      await addCopied(number, pattern, folder)
    }
  }

  /** Whether a branch can be at this path: directly below `branches`, or in a folder of branches. */
  function isPlace(path: string) {
    const parent = parentOf(path)
    if (parent === undefined) return false
    if (isBase.has(parent)) return true
    const base = bases.find((folder) => path.startsWith(`${folder}/`))
    if (base === undefined || path.slice(base.length + 1).split('/').length > deepest) return false
    return made.get(parent)?.files === false
  }

  function addFolder(path: string) {
    if (made.has(path)) return
    made.set(path, { files: false, folders: [] })
    made.get(parentOf(path) ?? '')?.folders.push(path)
  }

  /** Roots are not nested: a branch takes the place of those that were in the folder before. */
  function addRoot(path: string) {
    if (found.nearest(path) !== undefined) return
    if (path !== '') found.drop(path)
    found.set(path, true)
  }

  /** A folder that is not a copy is a branch, unless it has branches and no files of its own. */
  function settle() {
    for (const path of made.keys()) if (isBase.has(parentOf(path) ?? '')) settleFolder(path)
  }

  function settleFolder(path: string) {
    if (found.get(path)) return
    const { files, folders } = made.get(path) ?? { files: false, folders: [] }
    if (!files && found.below(path).length > 0) return folders.forEach(settleFolder)
    found.drop(path)
    found.set(path, true)
  }

  return { read, settle, copies }
}

/** The former paths of roots, followed back through all moves: their early history is there. */
function findFormer(trunk: string, found: PathTree<true>, copies: Map<string, Set<string>>): string[] {
  const former: string[] = []
  const roots = [...(found.get('') ? [''] : []), ...found.below('')]
  for (const root of roots.length > 0 ? roots : [trunk]) {
    for (let target: string | undefined = root; target !== undefined; target = parentOf(target)) {
      for (const source of copies.get(target) ?? []) {
        const path = joined(source, root.slice(target === '' ? 0 : target.length + 1))
        if (path === '' || found.nearest(path) !== undefined || found.below(path).length > 0) continue
        found.set(path, true)
        former.push(path)
        // Visited later in this loop.
        roots.push(path)
      }
    }
  }
  return former
}

function describeRoots({ trunk, branches, tags }: Layout, found: PathTree<true>, former: string[]): PathTree<Root> {
  const roots = createPathTree<Root>()
  const past = new Set(former)
  const patterns = { branch: parsePatterns(branches), tag: parsePatterns(tags) }
  for (const path of [...(found.get('') ? [''] : []), ...found.below('')]) {
    const tag = nameIn(path, tags, patterns.tag)
    const name = tag ?? nameIn(path, branches, patterns.branch)
    const kind = path === trunk ? 'trunk' : past.has(path) || name === undefined ? 'former' : tag === undefined ? 'branch' : 'tag'
    roots.set(path, { kind, name: name ?? path })
  }
  return roots
}

/** The name of a branch or tag; undefined if the path is none of these. */
function nameIn(path: string, folders: string[], patterns: PathPattern[]): string | undefined {
  const pattern = patterns.find(({ match }) => match(path) === path)
  if (pattern) return pattern.nameOf(path)
  const base = folders.find((folder) => path.startsWith(`${folder}/`))
  return base === undefined ? undefined : path.slice(base.length + 1)
}

/** Undefined for the root. */
function parentOf(path: string): string | undefined {
  return path === '' ? undefined : path.slice(0, Math.max(path.lastIndexOf('/'), 0))
}

function joined(folder: string, rest: string) {
  return folder === '' || rest === '' ? folder + rest : `${folder}/${rest}`
}
