import type { NoticeAct, Reason } from '#activity/notices.ts'
import { personOf } from '#hosting/issues/authors.ts'
import type { Person } from '#hosting/people/people.ts'
import { type Queryable, sql } from '#platform/database.ts'

/** One time that a thread told of something: which act, and why its reader was told. */
export interface Told {
  reason: Reason
  act: NoticeAct
  actor: Person | null
  said_type: 'IssueComment' | 'PullRequestReview' | 'PullRequestReviewComment' | 'CommitComment' | null
  said_id: number | null
  created_at: Date
}

/** Newest first. */
export function listTold(db: Queryable, thread: { id: number }): Promise<Told[]> {
  return db.rows(sql`
    select told.reason, n.act, ${personOf(sql`n.actor_id`)} as actor, n.said_type, n.said_id, n.created_at
    from threads t cross join lateral unnest(t.notice_ids, t.reasons) with ordinality as told (notice_id, reason, place)
      join notices n on n.id = told.notice_id
    where t.id = ${thread.id} order by told.place desc`)
}

/** The rule by which each reason arises, in words. */
export const rulesInWords: Record<Reason, string> = {
  assign: 'You were assigned.',
  author: 'You created the thread.',
  comment: 'You commented on the thread.',
  invitation: 'You were invited to contribute to the repository.',
  manual: 'You subscribed to the thread.',
  mention: 'You were mentioned.',
  review_requested: 'You, or a team of yours, were asked to review.',
  state_change: 'You changed the state of the thread.',
  subscribed: 'You watch the repository.',
  team_mention: 'A team of yours was mentioned.',
}
