/** Lines from the top of a commit's row to its dot, from the dot to the bottom, and past it. Lanes are counted from the left. */
export interface GraphRow {
  /** The lane of the dot. */
  lane: number
  /** Lanes at the top that end at the dot: one for each child's line. */
  joining: number[]
  /** Lanes at the bottom that begin at the dot: one for each parent. */
  leaving: number[]
  passing: number[]
}

/** More lines than this overlap in the last lane. */
const mostLanes = 10

/**
 * The lines between the commits of a list and their parents. A parent on a later page has a line to the bottom; a child on an earlier page has
 * none, because this page does not know it.
 */
export function drawGraph(commits: { sha: string; parents: string[] }[]): GraphRow[] {
  /** The commit that each lane leads to. */
  const lanes: (string | undefined)[] = []
  const free = () => {
    const found = lanes.indexOf(undefined)
    return found < 0 ? lanes.length : found
  }
  const shown = new Set<string>()
  return commits.map(({ sha, parents }) => {
    shown.add(sha)
    const joining = lanes.flatMap((awaited, lane) => (awaited === sha ? [lane] : []))
    const passing = lanes.flatMap((awaited, lane) => (awaited !== undefined && awaited !== sha ? [lane] : []))
    for (const lane of joining) lanes[lane] = undefined
    const own = joining[0] ?? free()
    const leaving: number[] = []
    for (const parent of new Set(parents)) {
      // Clocks differ, so git may list a parent before its child.
      if (shown.has(parent)) continue
      const known = lanes.indexOf(parent)
      const lane = known >= 0 ? known : lanes[own] === undefined ? own : free()
      lanes[lane] = parent
      leaving.push(lane)
    }
    const bound = (lane: number) => Math.min(lane, mostLanes - 1)
    return {
      lane: bound(own),
      joining: joining.map(bound),
      leaving: leaving.map(bound),
      passing: [...new Set(passing.map(bound))],
    }
  })
}

/** How many lanes the rows need. */
export const countLanes = (rows: GraphRow[]) =>
  Math.max(
    1,
    ...rows.flatMap(({ lane, joining, leaving, passing }) => [lane, ...joining, ...leaving, ...passing].map((one) => one + 1)),
  )
