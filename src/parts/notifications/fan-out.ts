import { type NoticeName, type NoticeRule, noticeRules } from '#activity/acts.ts'
import { findMentions, type Mentions } from '#hosting/mentions/mentions.ts'
import { knownTo } from '#hosting/teams/teams.ts'
import { type Database, empty, type Sql, sql, type Transaction } from '#platform/database.ts'

interface PendingEvent {
  id: number
  act: NoticeName
  body: string | null
  body_before: string | null
}

const eventsPerTransaction = 20

/**
 * Updates the threads of all recipients for the pending events of a subject, in order. Each event is marked as notified in the same
 * transaction, so running this twice changes nothing. Concurrent runs for one subject take turns.
 */
export async function fanOut(db: Database, subject_id: number) {
  for (;;) {
    const pending = await db.rows<PendingEvent>(sql`
      select id, act, body, body_before from notification_events where subject_id = ${subject_id} and notified_at is null order by id limit ${eventsPerTransaction}`)
    if (!pending.length) return
    const mentions = await Promise.all(pending.map(findNewMentions))
    await db.transaction(async (transaction) => {
      await transaction.query(sql`select pg_advisory_xact_lock(hashtextextended('tell', ${subject_id}))`)
      for (const [index, event] of pending.entries()) {
        // The time is read as late as possible, because a client that polls by `since` must not have polled after it before the commit.
        await fanOutEvent(transaction, db.now, event, mentions[index] ?? none)
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

/** How many events a thread remembers. */
const remembered = 100

/** One statement finds the recipients and their reasons, subscribes them, and updates their threads. */
async function fanOutEvent(db: Transaction, now: Date, { id, act }: PendingEvent, mentions: Mentions) {
  const { audience, own }: NoticeRule = noticeRules[act]
  await db.query(sql`
    with notice as materialized (
      update notification_events set notified_at = ${now}, body = null, body_before = null where id = ${id} and notified_at is null returning *
    ), event as materialized (
      select n.id, n.actor_id, n.people, n.teams, s.id as subject_id, s.repo_id, r.private, r.owner_id,
        coalesce(s.invitation_id, s.transfer_id) is not null as personal, log_position() as position
      from notice n join notification_subjects s on s.id = n.subject_id join repositories r on r.id = s.repo_id
    ), addressed as materialized (
      select user_id, min(reason) as reason from (${addressed(act, mentions)}) c group by user_id
    ), recipients as (
      ${own ? toActor : toAddressed}
      ${audience === 'everyone' ? sql`union all ${toParticipants} union all ${toWatchers}` : empty}
    ), joined as (
      insert into thread_subscriptions as s (subject_id, user_id, state, reason, created_at, after_notice)
      select event.subject_id, recipients.user_id, 'subscribed', recipients.reason, ${now}, event.id from recipients, event where recipients.addressed
      on conflict (subject_id, user_id) do update set reason = excluded.reason,
        state = case when excluded.reason = 'mention' then 'subscribed' else s.state end
    )
    insert into threads as t (user_id, repo_id, subject_id, reason, updated_at, position, notice_ids, reasons)
    select recipients.user_id, event.repo_id, event.subject_id, recipients.reason, ${now}, event.position, array[event.id], array[recipients.reason]
    from recipients, event
    on conflict (subject_id, user_id) do update set ${own ? empty : sql`unread = true, done = false,`} position = excluded.position,
      updated_at = greatest(t.updated_at, excluded.updated_at),
      reason = case when excluded.reason = 'subscribed' then t.reason else excluded.reason end,
      notice_ids = (t.notice_ids || excluded.notice_ids)[greatest(1, cardinality(t.notice_ids) - ${remembered - 2}):],
      reasons = (t.reasons || excluded.reasons)[greatest(1, cardinality(t.reasons) - ${remembered - 2}):]`)
}

/** Users that the event addresses directly, with all their reasons. A secret team can be mentioned only by users who may see it. */
function addressed(act: NoticeName, { users, teams }: Mentions): Sql {
  const { concerns }: NoticeRule = noticeRules[act]
  const [orgs, slugs] = [teams.map(({ org }) => org), teams.map(({ slug }) => slug)]
  return sql`
    select unnest(event.people) as user_id, ${concerns ?? null}::notification_reason as reason from event
    union all select m.user_id, ${concerns ?? null}::notification_reason from event join team_members m on m.team_id = any(event.teams)
    union all select a.id, 'mention' from accounts a where lower(a.login) = any(${users}::text[]) and a.type = 'User'
    union all select m.user_id, 'team_mention'
    from event join accounts o on o.id = event.owner_id
      join unnest(${orgs}::text[], ${slugs}::text[]) as named (org, slug) on named.org = lower(o.login)
      join teams t on t.org_id = o.id and t.slug = named.slug
      join team_members m on m.team_id = t.id
    where ${knownTo(sql`event.actor_id`)}`
}

const subscription = sql`left join thread_subscriptions s on s.subject_id = event.subject_id and s.user_id = recipient.user_id`
const watching = sql`left join subscriptions w on w.repo_id = event.repo_id and w.user_id = recipient.user_id`

/** Users are not notified of their own acts, or of repositories they may not see, except for invitations and transfers to them. */
const mayNotify = sql`recipient.user_id <> event.actor_id
  and (not event.private or event.personal
    or access_by_name(recipient.user_id, (select r from repositories r where r.id = event.repo_id)) > 0)`

/** A user who ignores a thread is notified of mentions only. A user who left a thread is notified if they watch the repository. */
const toAddressed = sql`
  select recipient.user_id, recipient.reason, true as addressed
  from event cross join addressed recipient ${subscription} ${watching}
  where ${mayNotify} and not coalesce(w.ignored, false)
    and (recipient.reason = 'mention' or coalesce(s.state, 'subscribed') = 'subscribed' or (s.state = 'muted' and w.user_id is not null))`

/** For an act with `own`: the actor, if they have a thread for it. */
const toActor = sql`
  select recipient.user_id, recipient.reason, true as addressed
  from event cross join addressed recipient join threads had on had.subject_id = event.subject_id and had.user_id = recipient.user_id`

const others = sql`not exists (select from addressed c where c.user_id = recipient.user_id)`

const toParticipants = sql`
  select recipient.user_id, recipient.reason, false
  from event join thread_subscriptions recipient on recipient.subject_id = event.subject_id and recipient.state = 'subscribed' and recipient.after_notice < event.id
    ${watching}
  where ${mayNotify} and not coalesce(w.ignored, false) and ${others}`

/** Watchers, also those who subscribed to the thread after the event. */
const toWatchers = sql`
  select recipient.user_id, 'subscribed'::notification_reason, false
  from event join subscriptions recipient on recipient.repo_id = event.repo_id and not recipient.ignored ${subscription}
  where ${mayNotify} and ${others} and (coalesce(s.state, 'muted') = 'muted' or (s.state = 'subscribed' and s.after_notice >= event.id))`

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

/** Deletes a batch of threads and events that are older than five months; false when none is left. */
export async function pruneThreads(db: Transaction): Promise<boolean> {
  const limit = sql`${db.now}::timestamptz - interval '5 months'`
  const threads = await db.query(sql`
    delete from threads where ctid = any(array(select ctid from threads where updated_at < ${limit} limit ${batch}))`)
  const notices = await db.query(sql`
    delete from notification_events where ctid = any(array(select ctid from notification_events where notified_at < ${limit} limit ${batch}))`)
  return (threads.rowCount ?? 0) + (notices.rowCount ?? 0) > 0
}
