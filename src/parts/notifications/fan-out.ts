import { type NoticeName, type NoticeRule, noticeRules } from '#activity/acts.ts'
import { findMentions, type Mentions } from '#hosting/mentions/mentions.ts'
import { keptId } from '#hosting/repositories/deletion-lock.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'
import { lowerEach } from '#platform/lower-case.ts'

interface PendingEvent {
  id: number
  act: NoticeName
  body: string | null
  body_before: string | null
  traceparent: string | null
  repo_id: number
}

const eventsPerTransaction = 20

/**
 * Updates the threads of all recipients for the pending events of a subject, in order. Each event is marked as notified in the same
 * transaction, so running this twice changes nothing. Concurrent runs for one subject take turns.
 */
export async function fanOut(db: Database, subject_id: number) {
  for (;;) {
    const pending = await db.rows<PendingEvent>(sql`
      select n.id, n.act, n.body, n.body_before, n.traceparent, s.repo_id
      from notification_events n join notification_subjects s on s.id = n.subject_id
      where n.subject_id = ${subject_id} and n.notified_at is null order by n.id limit ${eventsPerTransaction}`)
    const [first] = pending
    if (!first) return
    const mentions = await Promise.all(pending.map(findNewMentions))
    await db.transaction(async (transaction) => {
      await transaction.query(sql`
        select pg_advisory_xact_lock(hashtextextended('tell', ${subject_id})) from ${keptId({ id: first.repo_id })} kept`)
      for (const [index, event] of pending.entries()) {
        await tracedFanOut(transaction, event, mentions[index] ?? none)
      }
    })
  }
}

const none: Mentions = { users: [], teams: [] }

/** Users and teams that a text mentions now and did not mention before the edit. */
async function findNewMentions({ body, body_before }: PendingEvent): Promise<Mentions> {
  const now = await findMentions(body ?? '')
  const before = await findMentions(body_before ?? '')
  const teams = new Set(before.teams.map(({ org, slug }) => `${org}/${slug}`))
  return {
    users: now.users.filter((login) => !before.users.includes(login)),
    teams: now.teams.filter(({ org, slug }) => !teams.has(`${org}/${slug}`)),
  }
}

/** The job may have been enqueued by another act on the subject, so the trace is that of the event. */
function tracedFanOut(db: Transaction, event: PendingEvent, mentions: Mentions) {
  const { tracer } = db.home
  const work = async () => {
    // The time is read as late as possible, because a client that polls by `since` must not have polled after it before the commit.
    await fanOutEvent(db, db.home.now, event, mentions)
    await recordMentions(db, event, mentions)
  }
  return tracer ? tracer.continued(event.traceparent, 'fan-out', 'internal', { 'belfry.act': event.act }, work) : work()
}

/** Marks the event as notified and notifies users, see `fan_out` in 0027_writes.sql. */
async function fanOutEvent(db: Transaction, now: Date, { id, act }: PendingEvent, { users, teams }: Mentions) {
  const { audience, own, concerns }: NoticeRule = noticeRules[act]
  await db.query(sql`
    with notice as (
      update notification_events set notified_at = ${now}, body = null, body_before = null where id = ${id} and notified_at is null returning *
    )
    select fan_out(${now}, notice::notification_events, ${audience === 'everyone'}, ${own ?? false},
      ${concerns ?? null}::notification_reason, ${users}::text[], ${teams.map(({ org }) => org)}::text[],
      ${teams.map(({ slug }) => slug)}::text[]) from notice`)
}

/** Writes the users who are mentioned, and subscribed thereby, to the history of an issue. Of users who cannot see it, it says nothing. */
async function recordMentions(db: Transaction, { id }: PendingEvent, { users }: Mentions) {
  if (!users.length) return
  await db.query(sql`
    insert into issue_events (repo_id, issue_id, actor_id, event, created_at)
    select s.repo_id, s.issue_id, a.id, e.event, n.created_at
    from notification_events n join notification_subjects s on s.id = n.subject_id join thread_subscriptions t on t.subject_id = s.id
      join accounts a on a.id = t.user_id cross join unnest(array['mentioned', 'subscribed']) with ordinality as e (event, place)
    where n.id = ${id} and s.issue_id is not null and t.state = 'subscribed' and a.id is distinct from n.actor_id
      and lower(a.login) = any(${lowerEach(users)})
      and (e.event = 'mentioned' or not exists (
        select from issue_events o where o.issue_id = s.issue_id and o.actor_id = a.id and o.event = 'subscribed'))
    order by a.id, e.place`)
}

/** Deletes a batch of threads of deleted users or subjects; false when none is left. */
export async function forgetThreads(
  db: Transaction,
  { user_ids = [], subject_ids = [] }: { user_ids?: number[]; subject_ids?: number[] },
): Promise<boolean> {
  const { rowCount } = await db.query(sql`
    delete from threads where id in (
      (select id from threads where user_id = any(${user_ids}) limit ${batch})
      union all (select id from threads where subject_id = any(${subject_ids}) limit ${batch}))`)
  return (rowCount ?? 0) > 0
}
const batch = 5000

/** Deletes a batch of threads and events that are older than five months; false when none is left. Saved and snoozed threads stay. */
export async function pruneThreads(db: Transaction): Promise<boolean> {
  const limit = sql`${db.now}::timestamptz - interval '5 months'`
  const threads = await db.query(sql`
    delete from threads where ctid = any(array(select ctid from threads where updated_at < ${limit} and not saved and not (done and snoozed_until is not null)
      limit ${batch}))`)
  const notices = await db.query(sql`
    delete from notification_events where ctid = any(array(select ctid from notification_events where notified_at < ${limit} limit ${batch}))`)
  return (threads.rowCount ?? 0) + (notices.rowCount ?? 0) > 0
}
