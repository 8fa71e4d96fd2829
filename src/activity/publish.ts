import type { Transaction } from '#platform/database.ts'
import { type Act, type EventType, eventFacts, type LoggedEvent, meaningOf } from './acts.ts'
import { recordHistory } from './issue-history.ts'
import { record } from './log.ts'
import { notifyOf } from './notices.ts'
import { enqueueDeliveries } from './outbox/outbox.ts'

/**
 * Publishes what a user did in a repository: appends to the event log and the history, and enqueues notifications and webhook
 * deliveries, as acts.ts says for each act. Call it once for a change, in its transaction: after the rows are written, because
 * payloads show them, and before rows are deleted. The acts of one call are about one subject.
 */
export async function publish(db: Transaction, actor: { id: number }, repo: { id: number }, ...published: Act[]) {
  // Of an edit that also closes or reopens, timelines and inboxes show that first, the history and webhooks last.
  const stateFirst = published.toSorted((one, other) => Number('state_reason' in other) - Number('state_reason' in one))
  await record(db, actor, repo, ...stateFirst.flatMap(eventOf))
  await recordHistory(db, actor, repo, published)
  await notifyOf(db, actor, repo, stateFirst)
  await enqueueDeliveries(db, actor, repo, published)
}

function eventOf({ act, ...facts }: Act): LoggedEvent[] {
  const { timeline } = meaningOf(act)
  if (!timeline) return []
  const [type, word] = timeline.split(' ') as [EventType, string?]
  const known = eventFacts[type].flatMap((name) => (name in facts ? [[name, facts[name as keyof typeof facts]]] : []))
  const action = word && !eventFacts[type].includes('ref_type') ? { action: word } : {}
  return [{ type, payload: { ...action, ...Object.fromEntries(known) } } as LoggedEvent]
}
