import type { Repository } from '#hosting/repositories/repositories.ts'
import { type Database, type Sql, sql } from '#platform/database.ts'

const day = 86_400_000

/** How far a plot reaches back, and the length of one of its intervals in days. */
export const periods = {
  month: { name: 'Month', days: 30, step: 1 },
  quarter: { name: 'Quarter', days: 90, step: 3 },
  year: { name: 'Year', days: 364, step: 7 },
} as const

export type Period = keyof typeof periods

/** Stars and pushes of a repository, by interval, oldest first. */
export interface Growth {
  period: Period
  /** When each interval begins. */
  starts: Date[]
  pushes: number[]
  /** How many stars there were at the end of each interval, among those that are there now. */
  stars: number[]
  /** How many of them came in this period. */
  new_stars: number
  /** The intervals before this time are incomplete, because a busy repository has more events than are read. */
  cut: Date | null
}

/** Rows that are read for a plot, so that a busy repository does not make its page slow. */
const most = 20_000

export async function readGrowth(db: Database, repo: Repository, period: Period): Promise<Growth> {
  const { days, step } = periods[period]
  const count = Math.ceil(days / step)
  // Intervals are whole days in UTC, and the last one contains today.
  const end = (Math.floor(db.now.getTime() / day) + 1) * day
  const since = new Date(end - count * step * day)
  const starts = Array.from({ length: count }, (_, index) => new Date(since.getTime() + index * step * day))
  const events = await countByInterval(db, recentEvents(repo, since), sql`type = 'PushEvent'`, since, step)
  const gained = await countByInterval(db, recentStars(repo, since), sql`true`, since, step)
  const inside = (counted: Counted, index: number) => counted.by_interval.get(index) ?? 0
  const new_stars = starts.reduce((sum, _, index) => sum + inside(gained, index), 0)
  let stars = Math.max(0, repo.stargazers_count - new_stars)
  return {
    period,
    starts,
    pushes: starts.map((_, index) => inside(events, index)),
    stars: starts.map((_, index) => {
      stars += inside(gained, index)
      return stars
    }),
    new_stars,
    cut: events.oldest,
  }
}

/** Pushes to a repository that was private then are not shown to everyone who sees it now. */
const recentEvents = (repo: Repository, since: Date) => sql`
  select e.created_at as at, e.type from events e
  where e.repo_id = ${repo.id} and e.created_at >= ${since} and (e.public or ${repo.private}::boolean)
  order by e.created_at desc limit ${most}`

const recentStars = (repo: Repository, since: Date) => sql`
  select s.starred_at as at from stars s where s.repo_id = ${repo.id} and s.starred_at >= ${since} order by s.starred_at desc limit ${most}`

interface Counted {
  by_interval: Map<number, number>
  /** The time of the oldest row, if not all were read. */
  oldest: Date | null
}

async function countByInterval(db: Database, rows: Sql, condition: Sql, since: Date, step: number): Promise<Counted> {
  const found = await db.rows<{ place: number; counted: number; oldest: Date; total: number }>(sql`
    select floor(extract(epoch from at - ${since}::timestamptz) / ${(step * day) / 1000}::integer)::integer as place,
      count(*) filter (where ${condition}) as counted, min(at) as oldest, count(*) as total
    from (${rows}) recent group by place`)
  const total = found.reduce((sum, row) => sum + row.total, 0)
  const oldest = found.map((row) => row.oldest.getTime())
  return {
    by_interval: new Map(found.map(({ place, counted }) => [place, counted])),
    oldest: total >= most ? new Date(Math.min(...oldest)) : null,
  }
}
