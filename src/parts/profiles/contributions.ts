import type { Account, Viewer } from '#identity/accounts.ts'
import { isRepositoryVisible } from '#parts/timelines/shown.ts'
import { type Database, sql } from '#platform/database.ts'
import { daysOfContributions } from '#variants.ts'

const day = 86_400_000

/** A program may push every minute. So many acts of a year take 50 ms. */
const mostCounted = 10_000

export interface ContributionDay {
  /** Midnight UTC. */
  at: Date
  count: number
}

/**
 * The days of a year, oldest first, with what a user did on each: pushes, issues and pull requests that they opened, reviews, and repositories
 * that they created. Counts only what happened in repositories that the viewer may see; null: only in public. The log is read along the index of
 * the actor, and visibility is decided once for each repository and day.
 */
export async function countContributions(db: Database, user: Account, viewer: Viewer | null): Promise<ContributionDay[]> {
  const today = Math.floor(db.now.getTime() / day) * day
  // From a Sunday on: weeks are columns of the calendar.
  const weekday = new Date(today).getUTCDay()
  const first = today - (daysOfContributions - 7 + weekday) * day
  const view = { viewer, since: new Date(first), until: null }
  const rows = await db.genericPlanRows<{ day: number; count: number }>(sql`
    with acts as materialized (
      select e.repo_id, e.public, floor(extract(epoch from e.created_at) / 86400)::integer as day from events e
      where e.actor_id = ${user.id} and e.created_at >= ${view.since}
        and (e.type in ('PushEvent', 'PullRequestReviewEvent') or (e.type in ('IssuesEvent', 'PullRequestEvent') and e.payload->>'action' = 'opened')
          or (e.type = 'CreateEvent' and e.payload->>'ref_type' = 'repository'))
      order by e.created_at desc, e.id desc limit ${mostCounted}),
    days as (select repo_id, public, day, count(*) as count from acts group by repo_id, public, day)
    select e.day, sum(e.count)::integer as count from days e where ${isRepositoryVisible(view, sql`e.repo_id`)} group by e.day`)
  const counts = new Map(rows.map((row) => [row.day, row.count]))
  const length = (today - first) / day + 1
  return Array.from({ length }, (_, index) => {
    const at = new Date(first + index * day)
    return { at, count: counts.get(at.getTime() / day) ?? 0 }
  })
}
