import { fillIn } from '#activity/outbox/addresses.ts'
import { NullableString, NullableTimestamp, specified, Timestamp, type Wire } from '#http/serialization.ts'
import type { Hook } from '#parts/webhooks/hooks.ts'
import { headersOf } from '#parts/webhooks/signing.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Delivery, FullDelivery } from './deliveries.ts'

const NullableInteger = Type.Unsafe<number | null>({ type: ['integer', 'null'] })
export const NullableHeaders = Type.Unsafe<Record<string, string> | null>({
  type: ['object', 'null'],
  additionalProperties: { type: 'string' },
})

const item = {
  id: Type.Integer(),
  guid: Type.String(),
  delivered_at: Timestamp,
  redelivery: Type.Boolean(),
  duration: Type.Unsafe<number>({ type: 'number' }),
  status: Type.String(),
  status_code: Type.Integer(),
  event: Type.String(),
  action: NullableString,
  installation_id: NullableInteger,
  repository_id: NullableInteger,
  throttled_at: NullableTimestamp,
}

export const DeliveryItemSchema = Type.Object(item, { title: 'HookDeliveryItem' })

export const DeliverySchema = Type.Object(
  {
    ...item,
    url: Type.String(),
    request: Type.Object({
      headers: NullableHeaders,
      payload: Type.Unsafe<object | null>({ type: ['object', 'null'], additionalProperties: true }),
    }),
    response: Type.Object({ headers: NullableHeaders, payload: NullableString }),
  },
  { title: 'HookDelivery' },
)

/** Times have milliseconds here, as in the public API, because several deliveries may share a second. */
export function deliveryItemJson(delivery: Delivery, wire: Wire): Static<typeof DeliveryItemSchema> {
  return {
    id: delivery.id,
    guid: delivery.guid,
    delivered_at: delivery.delivered_at.toISOString(),
    redelivery: delivery.redelivery,
    duration: Math.round(delivery.duration * 1000) / 1000,
    status: delivery.status,
    status_code: delivery.status_code,
    event: delivery.event,
    action: specified(delivery.action, '', wire),
    installation_id: specified(delivery.installation_id, 0, wire),
    repository_id: specified(delivery.repo_id, 0, wire),
    throttled_at: delivery.throttled_at?.toISOString() ?? null,
  }
}

export function deliveryJson(delivery: FullDelivery, hook: Hook, wire: Wire): Static<typeof DeliverySchema> {
  const { body } = delivery
  return {
    ...deliveryItemJson(delivery, wire),
    url: delivery.url,
    request: {
      headers: headersOf(delivery, hook, delivery.request_headers),
      payload: specified<object>(body === null ? null : JSON.parse(fillIn(body, wire.web)), {}, wire),
    },
    response: {
      headers: specified(joinHeaders(delivery.response_headers), {}, wire),
      payload: specified(delivery.response_body, '', wire),
    },
  }
}

/** Clients expect one text per header, so repeated headers are joined. */
export function joinHeaders(headers: FullDelivery['response_headers']) {
  return headers && Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
