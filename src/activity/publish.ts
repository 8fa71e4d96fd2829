import { Database, json, type Sql, sql, type Transaction } from '#platform/database.ts'
import { ofDatabase } from '#platform/of-database.ts'
import { type Act, type EventType, eventFacts, type LoggedEvent, meaningOf } from './acts.ts'
import { recordPublished } from './audit.ts'
import { recordHistory } from './issue-history.ts'
import { noticesOf } from './notices.ts'
import { deliver, webhookEventsOf } from './outbox/outbox.ts'
import { foundHooks, type SubscribedHook, subscribedTo } from './outbox/subscribed-hooks.ts'

/**
 * Publishes what a user did in a repository: appends to the event log and the issue's history, notifies users, and enqueues webhook
 * deliveries, as acts.ts says for each act. Call it once for a change, in its transaction: after the rows are written, because
 * payloads show them, and before rows are deleted. The acts of one call are about one subject.
 */
export function publish(db: Transaction, actor: { id: number }, repo: { id: number }, ...published: Act[]) {
  if (!db.home.tracer) return publishAll(db, actor, repo, published)
  const attributes = { 'belfry.acts': published.map(({ act }) => act), 'belfry.repository_id': repo.id }
  return db.home.traced('publish', attributes, () => publishAll(db, actor, repo, published))
}

async function publishAll(db: Transaction, actor: { id: number }, repo: { id: number }, published: Act[]) {
  // Of an edit that also closes or reopens, timelines and inboxes show that first, the history and webhooks last.
  const stateFirst = published.toSorted((one, other) => Number('state_reason' in other) - Number('state_reason' in one))
  const call = await callOf(db, actor, repo, stateFirst, published)
  const hooks = call ? await db.rows<SubscribedHook>(foundHooks(call, repo.id)) : []
  await recordHistory(db, actor, repo, published)
  await recordPublished(db, actor, { repo_id: repo.id }, published)
  await deliver(db, actor, repo, hooks, published)
}

/**
 * Makes a change that is one statement, and publishes its act if a row changed. Outside a transaction and without a subscribed hook, this is
 * one statement and one round trip. `change` writes nothing unless its condition holds. For acts without history and notice.
 */
export async function publishChange(
  db: Database | Transaction,
  actor: { id: number },
  repo: { id: number },
  change: (condition: Sql) => Sql,
  published: Act,
): Promise<void> {
  if (db instanceof Database) {
    const inTransaction = () => db.transaction((transaction) => publishChange(transaction, actor, repo, change, published))
    const key = `${repo.id} ${published.act}`
    const found = foundSubscribed(db)
    // A payload shows the row, so it is composed in the transaction of the change.
    if (db.now.getTime() - (found.get(key) ?? 0) < trusted) return inTransaction()
    const { is_subscribed } = await db.write<{ is_subscribed: boolean }>(changeStatement(db.now, actor, repo, change, published))
    if (!is_subscribed) return
    if (found.size >= mostFound) found.clear()
    found.set(key, db.now.getTime())
    return inTransaction()
  }
  const { rowCount } = await db.query(change(sql`true`))
  if (rowCount) await publish(db, actor, repo, published)
}

/** For how long a repository whose act had a subscribed hook is expected to still have one, in milliseconds: a guess saves a statement. */
const trusted = 60_000
const mostFound = 10_000
const foundSubscribed = ofDatabase(() => new Map<string, number>())

function changeStatement(
  now: Date,
  actor: { id: number },
  repo: { id: number },
  change: (condition: Sql) => Sql,
  published: Act,
) {
  const events = eventOf(published)
  const recorded = events.length ? sql`record_events(${now}, ${actor.id}, ${repo.id}, ${json(events)}::jsonb)` : sql`null`
  return sql`
    with subscribed as materialized (select exists (${subscribedTo(repo.id, webhookEventsOf([published]))}) as is_subscribed),
      changed as (${change(sql`not (select is_subscribed from subscribed)`)} returning 1),
      recorded as (select ${recorded} from changed)
    select is_subscribed, (select count(*) from recorded) from subscribed`
}

/** The call of the function `publish_acts`; undefined if neither events nor notices nor webhooks follow from the acts. */
async function callOf(db: Transaction, actor: { id: number }, repo: { id: number }, stateFirst: Act[], published: Act[]) {
  const events = stateFirst.flatMap(eventOf)
  const stored = await noticesOf(db, actor, repo, stateFirst)
  const webhooks = [...new Set(webhookEventsOf(published).map(({ event }) => event))]
  if (!events.length && !stored && !webhooks.length) return undefined
  // The time is read as late as possible, because a client that polls by `since` must not have polled after it before the commit.
  const direct_at = stored?.direct ? db.home.now : null
  return sql`publish_acts(${db.now}, ${actor.id}, ${repo.id}, ${orNull(events)}::jsonb,
    ${stored ? json(stored.subject) : null}::jsonb, ${orNull(stored?.notices)}::jsonb, ${orNull(stored?.participants)}::jsonb,
    ${direct_at}, ${webhooks.length ? [...webhooks, '*'] : null}::text[])`
}

const orNull = (values: object[] = []) => (values.length ? json(values) : null)

function eventOf({ act, ...facts }: Act): LoggedEvent[] {
  const { timeline } = meaningOf(act)
  if (!timeline) return []
  const [type, word] = timeline.split(' ') as [EventType, string?]
  const known = eventFacts[type].flatMap((name) => (name in facts ? [[name, facts[name as keyof typeof facts]]] : []))
  const action = word && !eventFacts[type].includes('ref_type') ? { action: word } : {}
  return [{ type, payload: { ...action, ...Object.fromEntries(known) } } as LoggedEvent]
}
