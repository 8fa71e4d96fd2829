import type { LeftOut } from '#importer/source.ts'
import { openLeftOut } from '#importer/staging/arrange/left-out.ts'
import { openRefNames } from '#importer/staging/ref-names.ts'
import { type Changelog, parentsOf } from './changelog.ts'

export interface Refs {
  /** Full names, and the numbers of changesets. */
  refs: [ref: string, number: number][]
  default_branch: string | undefined
  /** The number of open heads that are not the tip of their branch. */
  further: number
  left_out: LeftOut[]
}

/** The changesets that have children, and those that have children on the same branch. */
export function findHeads({ p1, p2, branch }: Changelog) {
  const hasChild = new Uint8Array(p1.length)
  const hasChildOfBranch = new Uint8Array(p1.length)
  for (const [number, own] of branch.entries()) {
    for (const parent of [p1[number] as number, p2[number] as number]) {
      if (parent < 0) continue
      hasChild[parent] = 1
      if (branch[parent] === own) hasChildOfBranch[parent] = 1
    }
  }
  return { hasChild, hasChildOfBranch }
}

/** The heads of each branch as Mercurial counts them: changesets without a descendant on the same branch. */
function findBranchHeads(log: Changelog, { hasChild, hasChildOfBranch }: ReturnType<typeof findHeads>): number[][] {
  const heads = log.branches.map((): number[] => [])
  for (const [number, branch] of log.branch.entries()) if (!hasChildOfBranch[number]) heads[branch]?.push(number)
  return heads.map((numbers) => {
    // Only one with children, which are on other branches, can have a descendant on its own branch.
    const oldest = numbers.find((number) => hasChild[number])
    if (oldest === undefined || numbers.length === 1) return numbers
    const ancestors = findAncestors(log, numbers, oldest)
    return numbers.filter((number) => !ancestors.has(number))
  })
}

/** The proper ancestors of changesets, down to the number `from`. */
function findAncestors(log: Changelog, numbers: number[], from: number): Set<number> {
  const found = new Set<number>()
  const waiting = [...numbers]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const parent of parentsOf(log, next)) {
      if (parent < from || found.has(parent)) continue
      found.add(parent)
      waiting.push(parent)
    }
  }
  return found
}

export interface RefOptions {
  default_branch: string
  /** Whether closed heads that no other ref reaches are kept, as `closed/<branch>`. */
  keep_closed: boolean
}

/**
 * A named branch points to its tip as Mercurial defines it: its newest open head. Its other open heads get a suffix with the start of their
 * node. Closed branches are left out unless they are merged or kept on request; only `default` is always a branch.
 */
export function planRefs(log: Changelog, bookmarks: [string, string][], tags: Map<string, string>, options: RefOptions): Refs {
  const { default_branch, keep_closed } = options
  const names = openRefNames()
  const refs: Refs['refs'] = []
  const targets = new Map<string, number>()
  const add = (name: string, number: number) => {
    const given = names.take(name)
    refs.push([`refs/import/orig/heads/${given}`, number])
    targets.set(name, number)
    return given
  }
  const found = findHeads(log)
  const heads = findBranchHeads(log, found)
  const main = log.branches.indexOf('default')
  const order = [...new Set([main, ...log.branches.keys()])].filter((branch) => branch >= 0)
  let chosen: string | undefined
  let further = 0
  for (const branch of order) {
    const name = branch === main ? default_branch : (log.branches[branch] as string)
    const open = newestFirst(heads[branch]).filter((number) => !log.closes[number])
    const tip = open[0] ?? (branch === main ? heads[branch]?.at(-1) : undefined)
    if (tip === undefined) continue
    const given = add(name, tip)
    if (branch === main) chosen = given
    for (const number of open.slice(1)) add(`${name}-${shortNode(log, number)}`, number)
    further += Math.max(open.length - 1, 0)
  }
  if (keep_closed) {
    const taken = new Set(refs.map(([, number]) => number))
    for (const branch of order) {
      const name = `closed/${branch === main ? default_branch : log.branches[branch]}`
      const isLost = (number: number) => log.closes[number] && !found.hasChild[number] && !taken.has(number)
      const closed = newestFirst(heads[branch]).filter(isLost)
      for (const [index, number] of closed.entries()) add(index === 0 ? name : `${name}-${shortNode(log, number)}`, number)
    }
  }
  for (const [name, node] of bookmarks) {
    const number = log.nodes.find(Buffer.from(node, 'hex'))
    if (number >= 0 && targets.get(name) !== number) add(name, number)
  }
  // If there is no default branch, the newest head becomes it.
  chosen ??= refs.toSorted(([, a], [, b]) => b - a)[0]?.[0].slice('refs/import/orig/heads/'.length)
  const all: Refs['refs'] = [...refs, ...planTags(log, tags)]
  return { refs: all, default_branch: chosen, further, left_out: findLost(log, all) }
}

/** The changesets that no ref reaches, by branch. They are all on closed heads. */
function findLost(log: Changelog, refs: Refs['refs']): LeftOut[] {
  const reached = new Uint8Array(log.p1.length)
  for (const [, number] of refs) reached[number] = 1
  const left = openLeftOut()
  // Parents come before their children.
  for (let number = reached.length - 1; number >= 0; number--) {
    if (reached[number]) for (const parent of parentsOf(log, number)) reached[parent] = 1
    else left.add(log.branches[log.branch[number] ?? 0] ?? '', 'closed', number)
  }
  return left.list()
}

function planTags({ nodes }: Changelog, tags: Map<string, string>): Refs['refs'] {
  const names = openRefNames()
  return [...tags].flatMap(([name, digits]) => {
    const node = Buffer.from(digits, 'hex')
    const number = node.length === 20 ? nodes.find(node) : -1
    return number < 0 ? [] : [[`refs/import/orig/tags/${names.take(name)}`, number] as [string, number]]
  })
}

const newestFirst = (numbers: number[] = []) => numbers.toReversed()

const shortNode = ({ nodes }: Changelog, number: number) => nodes.id(number).toString('hex', 0, 6)
