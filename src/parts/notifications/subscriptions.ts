import type { Reason } from '#activity/acts.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'

/** Someone's mind about a conversation: to take part in it, or to hear nothing of it. */
export interface ThreadSubscription {
  subscribed: boolean
  ignored: boolean
  reason: Reason
  created_at: Date
}

const columns = sql`s.state = 'subscribed' as subscribed, s.state = 'ignored' as ignored, s.reason, s.created_at`

/** Nobody who has left a conversation has a subscription to it. */
export function findThreadSubscription(
  db: Queryable,
  user: { id: number },
  subject_id: number,
): Promise<ThreadSubscription | undefined> {
  return db.first(sql`
    select ${columns} from thread_subscriptions s
    where s.subject_id = ${subject_id} and s.user_id = ${user.id} and s.state <> 'muted'`)
}

/** Whoever took part before does so for the reason they had. */
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
  if (!set) throw new Error('a subscription that was written is there')
  return set
}

/** Silence until they comment or are mentioned, or for as long as they do not watch the repository. */
export async function endThreadSubscription(db: Transaction, user: { id: number }, subject_id: number) {
  await db.query(sql`
    update thread_subscriptions set state = 'muted' where subject_id = ${subject_id} and user_id = ${user.id}`)
}
