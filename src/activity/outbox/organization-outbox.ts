import { isRepositoryEvent, type OrganizationWebhookName } from '#activity/acts.ts'
import type { Facts } from '#activity/facts.ts'
import type { Transaction } from '#platform/database.ts'
import { payloadsFor, storeDeliveries } from './outbox.ts'
import { type OrganizationSubscriber, subscribedInOrganization, subscribesTo } from './subscribed-hooks.ts'

/** A webhook event of an organization. */
export interface OrganizationEvent {
  event: OrganizationWebhookName
  action: string | null
  facts: Partial<Facts>
}

/** Writes the payloads of events in their order; undefined where the receivers must not get a payload. */
export type OrganizationPayloadComposer = (
  db: Transaction,
  actor: { id: number },
  org: { id: number },
  events: OrganizationEvent[],
) => Promise<(string | undefined)[]>

let composePayloads: OrganizationPayloadComposer = () => {
  throw new Error('No payload composer is set: call setOrganizationPayloadComposer at the start of the program')
}

/** See `setPayloadComposer`. */
export function setOrganizationPayloadComposer(composer: OrganizationPayloadComposer) {
  composePayloads = composer
}

/** Stores a payload and a delivery for each subscribed hook, in the transaction of the acts. */
export async function deliverInOrganization(
  db: Transaction,
  actor: { id: number },
  org: { id: number },
  events: OrganizationEvent[],
) {
  const repo_ids = [...new Set(events.flatMap(({ facts }) => facts.repo_id ?? []))]
  const hooks = await db.rows<OrganizationSubscriber>(subscribedInOrganization(org.id, events, repo_ids))
  const subscribed = events.flatMap((event) => {
    const receivers = hooks.filter((hook) => gets(hook, event))
    return receivers.length ? { event, receivers } : []
  })
  if (!subscribed.length) return
  const bodies = await composePayloads(
    db,
    actor,
    org,
    subscribed.map(({ event }) => event),
  )
  const payloads = subscribed.flatMap(({ event, receivers }, index) =>
    payloadsFor(event, bodies[index], receivers).map((payload) => ({ ...payload, repo_id: event.facts.repo_id ?? null })),
  )
  for (const [repo_id, listed] of Map.groupBy(payloads, (payload) => payload.repo_id)) await storeDeliveries(db, repo_id, listed)
}

/** An app gets nothing about a repository that its installation does not include. */
function gets(hook: OrganizationSubscriber, { event, facts: { repo_id } }: OrganizationEvent) {
  if (!subscribesTo(hook, event)) return false
  if (hook.target_type === 'repository' && !isRepositoryEvent(event)) return false
  return repo_id === undefined || hook.repo_ids === null || hook.repo_ids.includes(repo_id)
}
