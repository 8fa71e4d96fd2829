import type { NoticeName, Reason } from '#activity/acts.ts'
import { person, personOf } from '#hosting/issues/authors.ts'
import type { Person } from '#identity/accounts.ts'
import { type Queryable, sql } from '#platform/database.ts'
import type { Thread } from './threads.ts'

/** One event of a thread: the act, and why the user was notified. */
export interface ThreadReason {
  reason: Reason
  act: NoticeName
  actor: Person | null
  comment_type: 'IssueComment' | 'PullRequestReview' | 'PullRequestReviewComment' | 'CommitComment' | null
  comment_id: number | null
  created_at: Date
}

/** Newest first. */
export function listThreadReasons(db: Queryable, thread: { id: number }): Promise<ThreadReason[]> {
  return db.rows(sql`
    select item.reason, n.act, ${personOf(sql`n.actor_id`)} as actor, n.comment_type, n.comment_id, n.created_at
    from threads t cross join lateral unnest(t.notice_ids, t.reasons) with ordinality as item (notice_id, reason, rank)
      join notification_events n on n.id = item.notice_id
    where t.id = ${thread.id} order by item.rank desc`)
}

/** Up to three people who acted last in each thread, the latest first. */
export async function listActors(db: Queryable, threads: { id: number }[]): Promise<Map<number, Person[]>> {
  const rows = await db.rows<{ id: number; actors: Person[] }>(sql`
    select t.id, array(
      select ${person} from (
        select n.actor_id, max(item.rank) as rank
        from unnest(t.notice_ids[greatest(1, cardinality(t.notice_ids) - 9):]) with ordinality as item (notice_id, rank)
          join notification_events n on n.id = item.notice_id
        group by n.actor_id order by 2 desc limit 3) last join accounts a on a.id = last.actor_id order by last.rank desc) as actors
    from threads t where t.id = any(${threads.map(({ id }) => id)})`)
  return new Map(rows.map(({ id, actors }) => [id, actors]))
}

/** Requests to the user have the reason `subscribed`, because the spec defines no other for them. */
const requests: Partial<Record<Thread['type'], { rule: string; name: string }>> = {
  RepositoryInvitation: { rule: 'You were invited to contribute to the repository.', name: 'you are invited' },
  RepositoryTransfer: {
    rule: 'The repository was offered to you, or to an organization that you own.',
    name: 'you are asked to accept it',
  },
  Webhook: { rule: 'You administer the repository or organization of the webhook.', name: 'you administer it' },
}

const requestIn = (reason: Reason, { type }: Pick<Thread, 'type'>) => (reason === 'subscribed' ? requests[type] : undefined)

export const ruleOf = (reason: Reason, thread: Pick<Thread, 'type'>) => requestIn(reason, thread)?.rule ?? rulesInWords[reason]

export const reasonNameOf = (reason: Reason, thread: Pick<Thread, 'type'>) =>
  requestIn(reason, thread)?.name ?? reasonNames[reason]

export const rulesInWords: Record<Reason, string> = {
  assign: 'You were assigned.',
  author: 'You created the thread.',
  comment: 'You commented on the thread.',
  invitation: 'You accepted an invitation to contribute to the repository.',
  manual: 'You subscribed to the thread.',
  mention: 'You were mentioned.',
  review_requested: 'You, or a team of yours, were asked to review.',
  state_change: 'You changed the state of the thread.',
  subscribed: 'You watch the repository.',
  team_mention: 'A team of yours was mentioned.',
}

const reasonNames: Record<Reason, string> = {
  mention: 'you were mentioned',
  review_requested: 'review requested',
  assign: 'you are assigned',
  team_mention: 'your team was mentioned',
  author: 'you wrote it',
  state_change: 'you changed its state',
  comment: 'you commented',
  invitation: 'you accepted the invitation',
  manual: 'you subscribed',
  subscribed: 'you watch the repository',
}
