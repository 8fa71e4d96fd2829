import type { LeftOut } from '#importer/source.ts'

type Reason = LeftOut['reason']

/** The longest list. Longer ones are shortened by counting paths of the same folder together. */
const maxListed = 200
/** While they are collected. */
const maxCollected = 20_000

export function openLeftOut() {
  let entries = new Map<string, LeftOut>()

  function put(path: string, reason: Reason, [first, last]: LeftOut['revisions'], count: number) {
    const key = `${reason} ${path}`
    const known = entries.get(key)
    if (known) {
      known.revisions = [Math.min(known.revisions[0], first), Math.max(known.revisions[1], last)]
      known.count += count
    } else entries.set(key, { path, revisions: [first, last], count, reason })
  }

  /** Counts the deepest paths with their folders. */
  function fold(limit: number) {
    while (entries.size > limit) {
      const deepest = Math.max(...[...entries.values()].map(({ path }) => depthOf(path)))
      const all = entries
      entries = new Map()
      for (const { path, reason, revisions, count } of all.values())
        put(depthOf(path) === deepest ? folderOf(path) : path, reason, revisions, count)
    }
  }

  return {
    add(path: string, reason: Reason, number: number, count = 1) {
      put(path, reason, [number, number], count)
      if (entries.size > maxCollected) fold(maxCollected / 2)
    },
    /** By their first revisions. */
    list(): LeftOut[] {
      fold(maxListed)
      return [...entries.values()].toSorted(
        (one, other) => one.revisions[0] - other.revisions[0] || (one.path < other.path ? -1 : 1),
      )
    },
  }
}

/** Collects what is left out, in a list of bounded length that still covers every path. */
export type LeftOutList = ReturnType<typeof openLeftOut>

const namesIn = (path: string) => path.split('/').filter((name) => name !== '')
const depthOf = (path: string) => namesIn(path).length
const folderOf = (path: string) => `${namesIn(path).slice(0, -1).join('/')}/`
