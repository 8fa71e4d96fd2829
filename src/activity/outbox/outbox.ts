import { type Act, type WebhookName, webhooksOf } from '#activity/acts.ts'
import type { Facts } from '#activity/facts.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { addressed } from './addresses.ts'
import { type Batch, localSenderFor } from './local-dispatch.ts'
import { type SubscribedHook, subscribesTo } from './subscribed-hooks.ts'

/** The URL of a hook whose owner receives deliveries by a stream. */
export const listening = 'belfry:listen'
/** How long a delivery waits for a stream to be open, in seconds. */
export const patience = 30
/** Larger payloads are not sent and are recorded as failures. In bytes. */
export const largest = 25 * 1024 * 1024
/** The topic of transactions that store deliveries, see Transaction.touch. */
export const deliveriesTopic = 'deliveries'

export interface WebhookEvent {
  event: WebhookName
  action: string | null
  facts: Partial<Facts>
}

/** Writes the payloads of events in their order; undefined where the receivers must not get a payload. */
export type PayloadComposer = (
  db: Transaction,
  actor: { id: number },
  repo: { id: number },
  events: WebhookEvent[],
) => Promise<(string | undefined)[]>

let composePayloads: PayloadComposer = () => {
  throw new Error('No payload composer is set: call setPayloadComposer at the start of the program')
}

/** Payloads show records of layers above this one, so the program provides the composer. */
export function setPayloadComposer(composer: PayloadComposer) {
  composePayloads = composer
}

/** The webhook events of acts, in their order. */
export const webhookEventsOf = (published: Act[]) =>
  published.flatMap(({ act, ...facts }) =>
    isDeliverable(facts) ? webhooksOf(act).map((webhook): WebhookEvent => ({ ...webhook, facts })) : [],
  )

/** Stores a payload and a delivery for each subscribed hook, in the transaction of the acts. `hooks` subscribe to at least one of them. */
export async function deliver(
  db: Transaction,
  actor: { id: number },
  repo: { id: number },
  hooks: SubscribedHook[],
  published: Act[],
) {
  if (!hooks.length) return
  const subscribed = webhookEventsOf(published).filter((event) => hooks.some((hook) => receives(hook, event)))
  const bodies = await composePayloads(db, actor, repo, subscribed)
  const payloads = subscribed.flatMap((event, index) =>
    payloadsFor(
      event,
      bodies[index],
      hooks.filter((hook) => receives(hook, event)),
    ),
  )
  if (payloads.length) await storeDeliveries(db, repo.id, payloads)
}

/** Of a request to an app, only the hook of that app is told. */
function receives(hook: SubscribedHook, { event, facts }: WebhookEvent) {
  const asked = facts.for_app_id ?? null
  return subscribesTo(hook, event) && (asked === null || (hook.target_type === 'integration' && hook.target_id === asked))
}

/** The payload of an event for its receivers: one for each installation of an app, and one for all other hooks. */
export function payloadsFor(
  { event, action }: { event: string; action: string | null },
  body: string | undefined,
  receivers: SubscribedHook[],
): NewPayload[] {
  if (body === undefined) return []
  return [...Map.groupBy(receivers, ({ installation_id }) => installation_id ?? null)].map(([installation_id, hooks]) => ({
    ...{ event, action, installation_id, hooks },
    body: installation_id === null ? body : withInstallation(body, installation_id),
  }))
}

/** An app finds out from the payload for which installation it can request a token. */
function withInstallation(body: string, id: number) {
  const installation = { id, node_id: Buffer.from(`023:IntegrationInstallation${id}`).toString('base64') }
  return `${body.slice(0, -1)},"installation":${JSON.stringify(installation)}}`
}

/** Hooks get nothing of refs that move in bulk, nor of a push that was not read from git because no hook subscribed. */
const isDeliverable = (facts: Partial<Facts>) => !facts.in_bulk && !('delivery' in facts && !facts.delivery)

/** A payload and the hooks that get it. */
interface NewPayload {
  event: string
  action: string | null
  body: string
  /** Set if it is for an installation of an app. */
  installation_id?: number | null
  hooks: SubscribedHook[]
}

interface DeliveryOptions {
  /** A user asks for the delivery while the hook is inactive, so it is sent although it is. */
  requested?: boolean
}

export async function storeDeliveries(
  db: Transaction,
  repo_id: number | null,
  unaddressed: NewPayload[],
  { requested = false }: DeliveryOptions = {},
) {
  const payloads = unaddressed.map((payload) => ({ ...payload, body: addressed(db, payload.body) }))
  const senderOf = localSenderFor(db)
  const pairs = payloads.flatMap(({ hooks }, index) =>
    hooks.map((hook) => ({ index: index + 1, hook, sender: hook.url === listening ? null : senderOf(hook) })),
  )
  const stored = await db.rows<Stored>(sql`
    select * from store_deliveries(${db.now}, ${repo_id}, ${payloads.map(({ event }) => event)}::text[],
      ${payloads.map(({ action }) => action)}::text[],
      ${payloads.map(({ body }) => (Buffer.byteLength(body) > largest ? null : body))}::text[],
      ${payloads.map(({ installation_id = null }) => installation_id)}::bigint[],
      ${pairs.map(({ index }) => index)}::integer[], ${pairs.map(({ hook }) => hook.id)}::bigint[],
      ${pairs.map(({ hook }) => (hook.url === listening ? patience : 0))}::double precision[],
      ${pairs.map(({ sender }) => sender)}::bigint[])`)
  const ids = stored.map(({ id }) => id)
  if (requested) await db.query(sql`update pending_deliveries set requested = true where id = any(${ids})`)
  db.touch(deliveriesTopic, ...batchesOf(payloads, pairs, stored, db.traceparent))
}

interface Stored {
  payload_id: number
  hook_id: number
  id: number
  guid: string
  sender: number | null
}

/** The deliveries that a sender of this process sends. Ids of payloads ascend in the order of `payloads`. */
function batchesOf(
  payloads: NewPayload[],
  pairs: { hook: SubscribedHook }[],
  stored: Stored[],
  traceparent: string | null,
): Batch[] {
  const hooks = new Map(pairs.map(({ hook }) => [hook.id, hook]))
  const byPayload = [...Map.groupBy(stored, ({ payload_id }) => payload_id)].toSorted(([one], [other]) => one - other)
  return byPayload.flatMap(([payload_id, rows], index) => {
    const { event = '', body = '' } = payloads[index] ?? {}
    const deliveries = rows.flatMap(({ id, guid, hook_id, sender }) => {
      const hook = sender === null ? undefined : hooks.get(hook_id)
      return hook ? { id, guid, hook } : []
    })
    const sender = rows.find((row) => row.sender !== null)?.sender
    const rest = deliveries.length < rows.length
    return sender ? { sender, payload_id, event, body, deliveries, traceparent, rest } : []
  })
}
