import { type Database, empty, type Sql, sql, type Transaction } from '#platform/database.ts'
import { type Change, hidesUpdates, markLocked, marksLock, markThreads } from './mark-read.ts'

export const acts = ['read', 'unread', 'done', 'mute', 'undone', 'save', 'unsave', 'snooze'] as const
export type InboxAct = (typeof acts)[number]

/** The state of a thread before an action, for undo. */
export interface Former {
  id: number
  updated_at: Date
  unread: boolean
  done: boolean
  saved: boolean
  snoozed_until: Date | null
  state: 'subscribed' | 'muted' | 'ignored' | null
}

/** A thread and its last update, as the page showed it. */
export interface Shown {
  id: number
  updated_at: Date
}

/**
 * Applies an action and returns the former states. Reading, done and mute skip threads that were updated since they were shown, or are
 * locked by an update, because they would hide an update that the user has not seen. All other actions wait for the update. A muted thread
 * is done and ignored: only a mention or a comment brings it back.
 */
export async function actOn(
  db: Transaction,
  user: { id: number },
  shown: Shown[],
  act: Exclude<InboxAct, 'snooze'> | { until: Date },
): Promise<Former[]> {
  const change: Change | { until: Date } = act === 'mute' ? 'done' : act
  const hides = hidesUpdates(change)
  // Before the rows, because a mark of everything skips locked rows.
  await db.query(sql`select ${marksLock(user)}`)
  const [listed, moments] = [shown.map(({ id }) => id), shown.map(({ updated_at }) => updated_at)]
  const former = await db.rows<Former>(sql`
    select t.id, date_trunc('milliseconds', t.updated_at) as updated_at, t.unread, t.done, t.saved, t.snoozed_until,
      (select s.state from thread_subscriptions s where s.subject_id = t.subject_id and s.user_id = t.user_id) as state
    from unnest(${listed}::bigint[], ${moments}::timestamptz[]) shown (id, updated_at) join threads t on t.id = shown.id
    where t.user_id = ${user.id} ${hides ? sql`and date_trunc('milliseconds', t.updated_at) <= shown.updated_at` : empty}
    order by t.id for update of t ${hides ? sql`skip locked` : empty}`)
  const ids = former.map(({ id }) => id)
  if (act === 'mute') {
    await db.query(sql`
      insert into thread_subscriptions (subject_id, user_id, state, reason, created_at)
      select t.subject_id, t.user_id, 'ignored', t.reason, ${db.now} from threads t where t.id = any(${ids}) order by t.subject_id
      on conflict (subject_id, user_id) do update set state = excluded.state`)
  }
  await markLocked(db, user, ids, change)
  return former
}

/** Restores the former states. Threads that were updated since keep their state, because the user has not seen the update. */
export async function undo(db: Transaction, user: { id: number }, act: InboxAct, former: Former[]) {
  await db.query(sql`select ${marksLock(user)}`)
  const rows = JSON.stringify(former)
  await db.query(sql`
    update threads set unread = f.unread, done = f.done, saved = f.saved, snoozed_until = f.snoozed_until, position = (select log_position())
    from (
      select t.id, f.unread, f.done, f.saved, f.snoozed_until
      from jsonb_to_recordset(${rows}::jsonb) as f (id bigint, updated_at timestamptz, unread boolean, done boolean, saved boolean,
          snoozed_until timestamptz)
        join threads t on t.id = f.id and t.user_id = ${user.id} and date_trunc('milliseconds', t.updated_at) <= f.updated_at
      for update of t skip locked) f
    where threads.id = f.id`)
  if (act !== 'mute') return
  const still = sql`from jsonb_to_recordset(${rows}::jsonb) as f (id bigint, state text) join threads t on t.id = f.id and t.user_id = ${user.id}`
  const muted = sql`s.subject_id = t.subject_id and s.user_id = t.user_id and s.state = 'ignored'`
  await db.query(sql`
    update thread_subscriptions s set state = f.state ${still} where ${muted} and f.state is not null`)
  await db.query(sql`
    delete from thread_subscriptions s using (select t.subject_id, t.user_id ${still} where f.state is null) t where ${muted}`)
}

/** Marks the user's threads of a subject as read. */
export async function markSubjectRead(db: Database, user: { id: number }, subject: Sql) {
  const found = await db.rows<{ id: number }>(sql`
    select t.id from notification_subjects s join threads t on t.subject_id = s.id and t.user_id = ${user.id} where ${subject} and t.unread limit 100`)
  const ids = found.map(({ id }) => id)
  if (ids.length) await db.transaction((transaction) => markThreads(transaction, user, ids, 'read'))
}
