import { type Comment, loadComments } from '#hosting/issues/comments/comments.ts'
import { loadReviews, type Review } from '#hosting/reviews/reviews.ts'
import type { Viewer } from '#identity/accounts.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { type IssueEvent, loadIssueEvents } from './events.ts'

export type TimelineEntry =
  | { kind: 'comment'; row: Comment }
  | { kind: 'event'; row: IssueEvent }
  | { kind: 'review'; row: Review }

/** Comments, reviews and events, oldest first. At the same time, comments come first, because a closing comment precedes the close. */
export async function listTimeline(
  db: Queryable,
  viewer: Viewer,
  issue: { id: number; pull_id: number | null },
  slice: Slice,
): Promise<Listed<TimelineEntry>> {
  const source = sql`(
    select 'comment' as kind, id, created_at from comments where issue_id = ${issue.id}
    union all select 'event', id, created_at from issue_events where issue_id = ${issue.id}
    union all select 'review', id, submitted_at from reviews where pull_id = ${issue.pull_id} and state <> 'PENDING') entry`
  const order = sql`entry.created_at, case entry.kind when 'event' then 1 else 0 end, entry.kind, entry.id`
  const page = await listed<Pick<TimelineEntry, 'kind'> & { id: number }>(db, { columns: sql`entry.*`, source, order }, slice)
  const ids = (kind: TimelineEntry['kind']) => page.rows.flatMap((row) => (row.kind === kind ? row.id : []))
  const [comments, events, reviews] = [ids('comment'), ids('event'), ids('review')]
  const entries: TimelineEntry[] = [
    ...(comments.length ? await loadComments(db, comments) : []).map((row) => ({ kind: 'comment', row }) as const),
    ...(events.length ? await loadIssueEvents(db, viewer, events) : []).map((row) => ({ kind: 'event', row }) as const),
    ...(reviews.length ? await loadReviews(db, reviews) : []).map((row) => ({ kind: 'review', row }) as const),
  ]
  const found = new Map(entries.map((entry) => [`${entry.kind} ${entry.row.id}`, entry]))
  return { rows: page.rows.flatMap(({ kind, id }) => found.get(`${kind} ${id}`) ?? []), total: page.total }
}
