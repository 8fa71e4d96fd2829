import type { Reason } from '#activity/acts.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import type { Thread } from './threads.ts'

/** A user's decision to be notified of a thread, or to ignore it. */
export interface ThreadSubscription {
  subscribed: boolean
  ignored: boolean
  reason: Reason
  created_at: Date
}

const columns = sql`s.state = 'subscribed' as subscribed, s.state = 'ignored' as ignored, s.reason, s.created_at`

/** The states of a thread of the user's. A user who left it (state `muted`) has no subscription, unless they watch the repository. */
export async function findThreadSubscription(
  db: Queryable,
  user: { id: number },
  { subject_id, repo_id, type, updated_at }: Pick<Thread, 'subject_id' | 'repo_id' | 'type' | 'updated_at'>,
): Promise<ThreadSubscription | undefined> {
  const found = await db.first<{
    state: string | null
    reason: Reason
    created_at: Date
    watches: boolean
    watched_at: Date
  }>(sql`
    select s.state, s.reason, s.created_at, coalesce(not w.ignored and watches(w, ${type}), false) as watches, w.created_at as watched_at
    from (select) one left join thread_subscriptions s on s.subject_id = ${subject_id} and s.user_id = ${user.id}
      left join subscriptions w on w.repo_id = ${repo_id} and w.user_id = ${user.id}`)
  const { state = null, reason = 'subscribed', created_at = null, watches = false, watched_at = null } = found ?? {}
  if (state === 'subscribed' || state === 'ignored') {
    return { subscribed: state === 'subscribed', ignored: state === 'ignored', reason, created_at: created_at ?? updated_at }
  }
  if (state === 'muted' && !watches) return undefined
  return { subscribed: watches, ignored: false, reason: 'subscribed', created_at: watched_at ?? updated_at }
}

/** Keeps the reason of an earlier subscription. */
export async function setThreadSubscription(
  db: Transaction,
  user: { id: number },
  subject_id: number,
  ignored: boolean,
): Promise<ThreadSubscription> {
  const set = await db.first<ThreadSubscription>(sql`
    insert into thread_subscriptions as s (subject_id, user_id, state, reason, created_at, after_notice)
    values (${subject_id}, ${user.id}, ${ignored ? 'ignored' : 'subscribed'}, 'manual', ${db.now},
      coalesce((select max(id) from notification_events where subject_id = ${subject_id}), 0))
    on conflict (subject_id, user_id) do update set state = excluded.state,
      after_notice = case s.state when 'subscribed' then s.after_notice else excluded.after_notice end
    returning ${columns}`)
  if (!set) throw new Error('the insert returned no subscription')
  return set
}

/** The user gets no notifications until they comment or are mentioned, unless they watch the repository. */
export async function endThreadSubscription(db: Transaction, user: { id: number }, subject_id: number) {
  await db.query(sql`
    update thread_subscriptions set state = 'muted' where subject_id = ${subject_id} and user_id = ${user.id}`)
}

/** Whether a user is notified of an issue or pull request, and why. */
export interface IssueSubscription {
  subscribed: boolean
  /** Null for a user who neither participates nor decided. */
  reason: Reason | null
  /** A user who ignores the repository is never notified, whatever their subscription says. */
  repository_ignored: boolean
}

/** Follows the rules of fan-out.ts. */
export async function findIssueSubscription(
  db: Queryable,
  user: { id: number },
  issue: { id: number; repo_id: number },
): Promise<IssueSubscription> {
  const found = await db.first<{
    state: string | null
    reason: Reason | null
    ignored: boolean | null
    watched: boolean | null
  }>(sql`
    select t.state, t.reason, w.ignored,
      watches(w, case when exists (select from pulls p where p.issue_id = ${issue.id}) then 'PullRequest' else 'Issue' end) as watched
    from (select) one left join subscriptions w on w.repo_id = ${issue.repo_id} and w.user_id = ${user.id}
      left join notification_subjects s on s.issue_id = ${issue.id}
      left join thread_subscriptions t on t.subject_id = s.id and t.user_id = ${user.id}`)
  const { state = null, reason = null, ignored = null, watched = null } = found ?? {}
  if (ignored === true) return { subscribed: false, reason: null, repository_ignored: true }
  if (state === 'subscribed') return { subscribed: true, reason, repository_ignored: false }
  const watches = watched === true && state !== 'ignored'
  return { subscribed: watches, reason: watches ? 'subscribed' : null, repository_ignored: false }
}

export async function setIssueSubscription(
  db: Transaction,
  user: { id: number },
  issue: { id: number; repo_id: number },
  type: 'Issue' | 'PullRequest',
  subscribed: boolean,
) {
  // An issue without notifications has no subject yet.
  const subject = await db.first<{ id: number }>(sql`
    insert into notification_subjects as s (repo_id, type, issue_id) values (${issue.repo_id}, ${type}, ${issue.id})
    on conflict (issue_id) where issue_id is not null do update set type = s.type returning id`)
  if (!subject) throw missing()
  await setThreadSubscription(db, user, subject.id, !subscribed)
}
