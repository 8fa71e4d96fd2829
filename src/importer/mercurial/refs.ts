import { openRefNames } from '#importer/staging/ref-names.ts'
import type { Changelog } from './changelog.ts'

export interface Refs {
  /** Full names, and the numbers of changesets. */
  refs: [ref: string, number: number][]
  default_branch: string | undefined
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

/**
 * A named branch points to its newest open head; its other heads get a suffix with the start of their node. A closed head is kept if no
 * other ref reaches it, so no changeset is lost.
 */
export function planRefs(log: Changelog, bookmarks: [string, string][], tags: Map<string, string>, default_branch: string): Refs {
  const names = openRefNames()
  const refs: Refs['refs'] = []
  const targets = new Map<string, number>()
  const add = (name: string, number: number) => {
    const given = names.take(name)
    refs.push([`refs/import/orig/heads/${given}`, number])
    targets.set(name, number)
    return given
  }
  const { hasChild, hasChildOfBranch } = findHeads(log)
  const heads = log.branches.map((): number[] => [])
  for (const [number, branch] of log.branch.entries()) if (!hasChildOfBranch[number]) heads[branch]?.push(number)
  const main = log.branches.indexOf('default')
  const order = [...new Set([main, ...log.branches.keys()])].filter((branch) => branch >= 0)
  let chosen: string | undefined
  for (const branch of order) {
    const name = branch === main ? default_branch : (log.branches[branch] as string)
    const open = newestFirst(heads[branch]).filter((number) => !log.closes[number])
    const [tip] = open
    if (tip === undefined) continue
    const given = add(name, tip)
    if (branch === main) chosen = given
    for (const number of open.slice(1)) if (!hasChild[number]) add(`${name}-${shortNode(log, number)}`, number)
  }
  for (const branch of order) {
    const name = `closed/${branch === main ? default_branch : log.branches[branch]}`
    const closed = newestFirst(heads[branch]).filter((number) => log.closes[number] && !hasChild[number])
    for (const [index, number] of closed.entries()) add(index === 0 ? name : `${name}-${shortNode(log, number)}`, number)
  }
  for (const [name, node] of bookmarks) {
    const number = log.nodes.find(Buffer.from(node, 'hex'))
    if (number >= 0 && targets.get(name) !== number) add(name, number)
  }
  // If there is no default branch, the newest head becomes it.
  chosen ??= refs.toSorted(([, a], [, b]) => b - a)[0]?.[0].slice('refs/import/orig/heads/'.length)
  return { refs: [...refs, ...planTags(log, tags)], default_branch: chosen }
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
