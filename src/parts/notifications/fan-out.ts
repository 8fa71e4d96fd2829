import { type NoticeName, type NoticeRule, noticeRules } from '#activity/acts.ts'
import { findMentions, type Mentions } from '#hosting/mentions/mentions.ts'
import { knownTo } from '#hosting/teams/teams.ts'
import { type Database, empty, type Sql, sql, type Transaction } from '#platform/database.ts'

interface Waiting {
  id: number
  act: NoticeName
  body: string | null
  body_before: string | null
}

const together = 20

/**
 * Tells everyone of what happened to a subject, in the order in which it happened. An act is told in one transaction with the note that it
 * was, so that nothing is told twice, however often this runs; those who tell of one subject take turns.
 */
export async function tell(db: Database, subject_id: number) {
  for (;;) {
    const waiting = await db.rows<Waiting>(sql`
      select id, act, body, body_before from notification_events where subject_id = ${subject_id} and notified_at is null order by id limit ${together}`)
    if (!waiting.length) return
    const named = await Promise.all(waiting.map(findNewlyMentioned))
    await db.transaction(async (transaction) => {
      await transaction.query(sql`select pg_advisory_xact_lock(hashtextextended('tell', ${subject_id}))`)
      for (const [index, notice] of waiting.entries()) {
        // As late as can be: whoever asks what is new since a moment must not have asked before this is there.
        await tellOne(transaction, db.now, notice, named[index] ?? nobody)
      }
    })
  }
}

const nobody: Mentions = { users: [], teams: [] }

/** Those whom a text mentions now, and did not before it was changed. */
async function findNewlyMentioned({ body, body_before }: Waiting): Promise<Mentions> {
  const now = await findMentions(body ?? '')
  const before = await findMentions(body_before ?? '')
  const teams = new Set(before.teams.map(({ org, slug }) => `${org}/${slug}`))
  return {
    users: now.users.filter((login) => !before.users.includes(login)),
    teams: now.teams.filter(({ org, slug }) => !teams.has(`${org}/${slug}`)),
  }
}

/** So many of the notices of a thread are remembered with it. */
const remembered = 100

/** One statement for all who are told: who they are, why, that they take part from now on, and their threads. */
async function tellOne(db: Transaction, now: Date, { id, act }: Waiting, mentions: Mentions) {
  const { audience, own }: NoticeRule = noticeRules[act]
  await db.query(sql`
    with notice as materialized (
      update notification_events set notified_at = ${now}, body = null, body_before = null where id = ${id} and notified_at is null returning *
    ), act as materialized (
      select n.id, n.actor_id, n.people, n.teams, s.id as subject_id, s.repo_id, r.private, r.owner_id,
        coalesce(s.invitation_id, s.transfer_id) is not null as personal, log_position() as position
      from notice n join notification_subjects s on s.id = n.subject_id join repositories r on r.id = s.repo_id
    ), concerned as materialized (
      select user_id, min(reason) as reason from (${concerned(act, mentions)}) c group by user_id
    ), told as (
      ${own ? toThemselves : toConcerned}
      ${audience === 'everyone' ? sql`union all ${toParticipants} union all ${toWatchers}` : empty}
    ), joined as (
      insert into thread_subscriptions as s (subject_id, user_id, state, reason, created_at, after_notice)
      select act.subject_id, told.user_id, 'subscribed', told.reason, ${now}, act.id from told, act where told.concerned
      on conflict (subject_id, user_id) do update set reason = excluded.reason,
        state = case when excluded.reason = 'mention' then 'subscribed' else s.state end
    )
    insert into threads as t (user_id, repo_id, subject_id, reason, updated_at, position, notice_ids, reasons)
    select told.user_id, act.repo_id, act.subject_id, told.reason, ${now}, act.position, array[act.id], array[told.reason]
    from told, act
    on conflict (subject_id, user_id) do update set ${own ? empty : sql`unread = true, done = false,`} position = excluded.position,
      updated_at = greatest(t.updated_at, excluded.updated_at),
      reason = case when excluded.reason = 'subscribed' then t.reason else excluded.reason end,
      notice_ids = (t.notice_ids || excluded.notice_ids)[greatest(1, cardinality(t.notice_ids) - ${remembered - 2}):],
      reasons = (t.reasons || excluded.reasons)[greatest(1, cardinality(t.reasons) - ${remembered - 2}):]`)
}

/** Everyone whom the act itself is about, with each reason they have; a team may be named by those only who may know of it. */
function concerned(act: NoticeName, { users, teams }: Mentions): Sql {
  const { concerns }: NoticeRule = noticeRules[act]
  const [orgs, slugs] = [teams.map(({ org }) => org), teams.map(({ slug }) => slug)]
  return sql`
    select unnest(act.people) as user_id, ${concerns ?? null}::notification_reason as reason from act
    union all select m.user_id, ${concerns ?? null}::notification_reason from act join team_members m on m.team_id = any(act.teams)
    union all select a.id, 'mention' from accounts a where lower(a.login) = any(${users}::text[]) and a.type = 'User'
    union all select m.user_id, 'team_mention'
    from act join accounts o on o.id = act.owner_id
      join unnest(${orgs}::text[], ${slugs}::text[]) as named (org, slug) on named.org = lower(o.login)
      join teams t on t.org_id = o.id and t.slug = named.slug
      join team_members m on m.team_id = t.id
    where ${knownTo(sql`act.actor_id`)}`
}

const subscription = sql`left join thread_subscriptions s on s.subject_id = act.subject_id and s.user_id = who.user_id`
const watching = sql`left join subscriptions w on w.repo_id = act.repo_id and w.user_id = who.user_id`

/** Users are not notified of their own acts, or of what they may not see. A receiver need not see the repository of an invitation or a transfer. */
const mayHear = sql`who.user_id <> act.actor_id
  and (not act.private or act.personal
    or access_by_name(who.user_id, (select r from repositories r where r.id = act.repo_id)) > 0)`

/** Who silenced a conversation is called back by their own name only; who watches the repository hears of it all the same. */
const toConcerned = sql`
  select who.user_id, who.reason, true as concerned
  from act cross join concerned who ${subscription} ${watching}
  where ${mayHear} and not coalesce(w.ignored, false)
    and (who.reason = 'mention' or coalesce(s.state, 'subscribed') = 'subscribed' or (s.state = 'muted' and w.user_id is not null))`

/** For an act with `own`: the person whom it concerns, if they have a thread for it. */
const toThemselves = sql`
  select who.user_id, who.reason, true as concerned
  from act cross join concerned who join threads had on had.subject_id = act.subject_id and had.user_id = who.user_id`

const others = sql`not exists (select from concerned c where c.user_id = who.user_id)`

const toParticipants = sql`
  select who.user_id, who.reason, false
  from act join thread_subscriptions who on who.subject_id = act.subject_id and who.state = 'subscribed' and who.after_notice < act.id
    ${watching}
  where ${mayHear} and not coalesce(w.ignored, false) and ${others}`

/** Those who watch, also who came to take part since. */
const toWatchers = sql`
  select who.user_id, 'subscribed'::notification_reason, false
  from act join subscriptions who on who.repo_id = act.repo_id and not who.ignored ${subscription}
  where ${mayHear} and ${others} and (coalesce(s.state, 'muted') = 'muted' or (s.state = 'subscribed' and s.after_notice >= act.id))`

/** Deletes some threads of people or subjects that are gone, and says whether there are more. */
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

/** Threads that nothing happened to for five months go, and what was noted of the acts they told of. */
export async function pruneThreads(db: Transaction): Promise<boolean> {
  const over = sql`${db.now}::timestamptz - interval '5 months'`
  const threads = await db.query(sql`
    delete from threads where ctid = any(array(select ctid from threads where updated_at < ${over} limit ${batch}))`)
  const notices = await db.query(sql`
    delete from notification_events where ctid = any(array(select ctid from notification_events where notified_at < ${over} limit ${batch}))`)
  return (threads.rowCount ?? 0) + (notices.rowCount ?? 0) > 0
}
