import type { Reason } from '#activity/notices.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { setThreadSubscription } from './subscriptions.ts'

/** What somebody subscribed of a conversation, and why. */
export interface IssueSubscription {
  subscribed: boolean
  /** Why; nothing where they took no part and made up no mind. */
  reason: Reason | null
  /** They want to hear nothing of the whole repository, and are told of nothing whatever they say here. */
  repository_ignored: boolean
}

/** As those who tell everyone have it, see fan-out.ts. */
export async function findIssueSubscription(
  db: Queryable,
  user: { id: number },
  issue: { id: number; repo_id: number },
): Promise<IssueSubscription> {
  const found = await db.first<{ state: string | null; reason: Reason | null; ignored: boolean | null }>(sql`
    select t.state, t.reason, w.ignored
    from (select) one left join subscriptions w on w.repo_id = ${issue.repo_id} and w.user_id = ${user.id}
      left join notification_subjects s on s.issue_id = ${issue.id}
      left join thread_subscriptions t on t.subject_id = s.id and t.user_id = ${user.id}`)
  const { state = null, reason = null, ignored = null } = found ?? {}
  if (ignored === true) return { subscribed: false, reason: null, repository_ignored: true }
  if (state === 'subscribed') return { subscribed: true, reason, repository_ignored: false }
  const watches = ignored === false && state !== 'ignored'
  return { subscribed: watches, reason: watches ? 'subscribed' : null, repository_ignored: false }
}

/** Takes part in a conversation from now on, or subscribed of it only by one's own name or words. */
export async function setIssueSubscription(
  db: Transaction,
  user: { id: number },
  issue: { id: number; repo_id: number },
  type: 'Issue' | 'PullRequest',
  subscribed: boolean,
) {
  // Of what nobody was ever told, there is no subject yet.
  const subject = await db.first<{ id: number }>(sql`
    insert into notification_subjects as s (repo_id, type, issue_id) values (${issue.repo_id}, ${type}, ${issue.id})
    on conflict (issue_id) where issue_id is not null do update set type = s.type returning id`)
  if (!subject) throw missing()
  await setThreadSubscription(db, user, subject.id, !subscribed)
}
