import type { PathTree } from '#importer/staging/path-tree.ts'
import type { Revision } from './revisions.ts'
import type { RootChange } from './root-changes.ts'
import type { Root } from './roots.ts'

export interface RootHistory {
  root: string
  /** The state from each revision on. A deleted root has no commit. */
  states: State[]
  /** The revisions that have a commit of their own. */
  commits: number[]
  /** The revision that the current root began with. */
  firstRevision: Revision | undefined
  /** The last merged revision by root. Copies share it until it changes. */
  merged: Map<string, number>
}

interface State {
  number: number
  commit: string | undefined
  tree: string | undefined
  /** The root was made in this revision, whether or not it existed before. */
  begins?: boolean
}

export interface NewCommit {
  root: string
  revision: Revision
  tree: string
  parents: string[]
}

export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/** `add` returns the id of a commit. */
export function openRootHistories(roots: PathTree<Root>, add: (commit: NewCommit) => string) {
  const lines = new Map<string, RootHistory>()

  /** Returns the new commit, if there is one. */
  function applyChange({ revision, root, begins, from, along, ends, mergeinfo, merges }: RootChange, found: string | undefined) {
    const line = lines.get(root) ?? begin(root)
    const head = line.states.at(-1)
    const { number } = revision
    if (ends || (found === undefined && along)) {
      if (head?.commit) line.states.push({ number, commit: undefined, tree: undefined })
      return
    }
    const tree = found ?? emptyTree
    const former = begins ? sourceOf(from) : head
    if (begins) {
      line.firstRevision = revision
      line.merged = former?.commit && from ? inherit(line, from) : new Map()
      // An unchanged copy needs no new commit.
      if (former?.commit && former.tree === tree) {
        line.states.push({ number, commit: former.commit, tree, begins })
        return
      }
    }
    line.firstRevision ??= revision
    // A root gets its first commit with its first file.
    if (!former?.commit && tree === emptyTree) {
      if (begins && head?.commit) line.states.push({ number, commit: undefined, tree: undefined })
      return
    }
    const parents = new Set(former?.commit ? [former.commit] : [])
    if (!begins) for (const commit of [...mergedBy(line, mergeinfo), ...mergedUpTo(line, merges)]) parents.add(commit)
    const commit = add({ root, revision, tree, parents: [...parents] })
    line.states.push({ number, commit, tree, begins })
    line.commits.push(number)
    return commit
  }

  function begin(root: string): RootHistory {
    const line: RootHistory = { root, states: [], commits: [], firstRevision: undefined, merged: new Map() }
    lines.set(root, line)
    return line
  }

  function sourceOf(from: RootChange['from']): State | undefined {
    const line = from && lines.get(from.path)
    return line && stateAt(line, from.number)
  }

  /** Tags share the map, because there are many and nothing is merged into them. */
  function inherit({ root }: RootHistory, from: { number: number; path: string }) {
    const merged = lines.get(from.path)?.merged ?? new Map<string, number>()
    return roots.get(root)?.kind === 'tag' ? merged : new Map(merged).set(from.path, from.number)
  }

  /** The roots that were merged as a whole up to a revision. A merge of single revisions has no equivalent in git. */
  function mergedBy(line: RootHistory, mergeinfo: string | undefined): string[] {
    if (mergeinfo === undefined) return []
    const commits: string[] = []
    for (const { path, ranges } of readMergeinfo(mergeinfo)) {
      const source = path === line.root ? undefined : lines.get(path)
      if (!source) continue
      const before = line.merged.get(path) ?? 0
      let upTo = before
      for (let at = firstAfter(source.commits, before, (number) => number); at < source.commits.length; at++) {
        const number = source.commits[at] ?? 0
        if (!ranges.some(([first, last]) => first <= number && number <= last)) break
        upTo = number
      }
      if (upTo > before) commits.push(...merge(line, source, upTo))
    }
    return commits
  }

  function mergedUpTo(line: RootHistory, merges: RootChange['merges']): string[] {
    const newest = new Map<string, number>()
    for (const { path, number } of merges) {
      const root = roots.nearest(path)
      if (root !== undefined && root !== line.root) newest.set(root, Math.max(newest.get(root) ?? 0, number))
    }
    return [...newest].flatMap(([root, number]) => {
      const source = lines.get(root)
      return source ? merge(line, source, number) : []
    })
  }

  function merge(line: RootHistory, source: RootHistory, number: number): string[] {
    line.merged = new Map(line.merged).set(source.root, number)
    const commit = stateAt(source, number)?.commit
    return commit === undefined ? [] : [commit]
  }

  return { lines, applyChange }
}

/** The last commits of a root before it was deleted or made again, and the revisions in which that happened. */
export function endsOf({ states }: RootHistory) {
  return states.flatMap((state, place) => {
    const { commit } = states[place - 1] ?? {}
    if (commit === undefined || (state.commit !== undefined && !state.begins)) return []
    return [{ commit, number: state.number, reason: state.commit === undefined ? ('deleted' as const) : ('replaced' as const) }]
  })
}

function stateAt({ states }: RootHistory, number: number): State | undefined {
  return states[firstAfter(states, number, (state) => state.number) - 1]
}

/** The index of the first greater element of a sorted array. */
function firstAfter<T>(all: T[], number: number, numberOf: (one: T) => number) {
  let low = 0
  let high = all.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (numberOf(all[middle] as T) <= number) low = middle + 1
    else high = middle
  }
  return low
}

export function describeCommit({ revision, tree, parents }: Omit<NewCommit, 'root'>): Buffer {
  const { name, email, time, message } = revision
  const who = `${name} <${email}> ${time} +0000`
  const head = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), `author ${who}`, `committer ${who}`, '']
  return Buffer.from(`${head.join('\n')}\n${endLine(message)}`)
}

export function endLine(text: string) {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

/** Parses `svn:mergeinfo`: the merged revisions by path. Ranges marked with `*` are skipped, because they were merged into a part only. */
function* readMergeinfo(text: string): Generator<{ path: string; ranges: [number, number][] }> {
  for (const line of text.split('\n')) {
    const colon = line.lastIndexOf(':')
    if (colon < 1) continue
    const ranges = line
      .slice(colon + 1)
      .split(',')
      .filter((range) => /^\d+(-\d+)?$/.test(range))
      .map((range): [number, number] => {
        const [first, last] = range.split('-').map(Number)
        return [first ?? 0, last ?? first ?? 0]
      })
    yield { path: line.slice(0, colon).replace(/^\//, ''), ranges }
  }
}
