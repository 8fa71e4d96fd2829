import { json, type Sql, sql, type Transaction } from '#platform/database.ts'
import { type Act, type EventType, eventFacts, type LoggedEvent, meaningOf } from './acts.ts'
import { recordHistory } from './issue-history.ts'
import { noticesOf } from './notices.ts'
import { deliver, webhookEventsOf } from './outbox/outbox.ts'
import { type SubscribedHook, subscribedHookColumns } from './outbox/subscribed-hooks.ts'

/**
 * Publishes what a user did in a repository: appends to the event log and the issue's history, notifies users, and enqueues webhook
 * deliveries, as acts.ts says for each act. Call it once for a change, in its transaction: after the rows are written, because
 * payloads show them, and before rows are deleted. The acts of one call are about one subject.
 */
export async function publish(db: Transaction, actor: { id: number }, repo: { id: number }, ...published: Act[]) {
  // Of an edit that also closes or reopens, timelines and inboxes show that first, the history and webhooks last.
  const stateFirst = published.toSorted((one, other) => Number('state_reason' in other) - Number('state_reason' in one))
  const call = await callOf(db, actor, repo, stateFirst, published)
  const [hooks] = await Promise.all([
    call ? db.rows<SubscribedHook>(sql`select ${subscribedHookColumns} from ${call(sql`${actor.id}`, sql`${repo.id}`)} h`) : [],
    recordHistory(db, actor, repo, published),
  ])
  await deliver(db, actor, repo, hooks, published)
}

/**
 * Publishes an act if `change` changes a row, in one statement with it. `change` is an `insert` or `delete` whose table has the columns
 * `user_id` and `repo_id`. For acts without history and notice.
 */
export async function publishChange(db: Transaction, actor: { id: number }, repo: { id: number }, change: Sql, published: Act) {
  const call = await callOf(db, actor, repo, [published], [published])
  if (!call) throw new Error(`nothing follows from the act ${published.act}`)
  const hooks = await db.rows<SubscribedHook>(sql`
    with changed as (${change} returning user_id, repo_id)
    select ${subscribedHookColumns} from changed cross join lateral ${call(sql`changed.user_id`, sql`changed.repo_id`)} h`)
  await deliver(db, actor, repo, hooks, [published])
}

/** The call of the function `publish_acts`; undefined if neither events nor notices nor webhooks follow from the acts. */
async function callOf(db: Transaction, actor: { id: number }, repo: { id: number }, stateFirst: Act[], published: Act[]) {
  const events = stateFirst.flatMap(eventOf)
  const stored = await noticesOf(db, actor, repo, stateFirst)
  const webhooks = [...new Set(webhookEventsOf(published).map(({ event }) => event))]
  if (!events.length && !stored && !webhooks.length) return undefined
  // The time is read as late as possible, because a client that polls by `since` must not have polled after it before the commit.
  const direct_at = stored?.direct ? db.home.now : null
  return (actor_id: Sql, repo_id: Sql) => sql`publish_acts(${db.now}, ${actor_id}, ${repo_id}, ${orNull(events)}::jsonb,
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
