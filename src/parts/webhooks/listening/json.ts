import { listening } from '#activity/outbox/outbox.ts'
import { NullableString, Timestamp } from '#http/serialization.ts'
import type { FullDelivery } from '#parts/webhooks/deliveries/deliveries.ts'
import { joinHeaders, NullableHeaders } from '#parts/webhooks/deliveries/json.ts'
import type { Hook } from '#parts/webhooks/hooks.ts'
import { headersOf, type SignedHeaders } from '#parts/webhooks/signing.ts'
import { type Static, Type } from '#platform/schema.ts'

const Headers = Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } })
const RecordedOutcome = Type.Object(
  {
    delivered_at: Timestamp,
    duration: Type.Unsafe<number>({ type: 'number' }),
    status: Type.String(),
    status_code: Type.Integer(),
    response: Type.Object({ headers: NullableHeaders, payload: NullableString }),
  },
  { title: 'HookDeliveryOutcome' },
)

export const DeliveryMessageSchema = Type.Object(
  {
    id: Type.Integer(),
    guid: Type.String(),
    event: Type.String(),
    action: NullableString,
    redelivery: Type.Boolean(),
    headers: Headers,
    body: NullableString,
    content_type: Type.String(),
    url: Type.String(),
    outcome: Type.Unsafe<Static<typeof RecordedOutcome> | null>({ anyOf: [RecordedOutcome, { type: 'null' }] }),
  },
  { title: 'HookDeliveryMessage' },
)
export type DeliveryMessage = Static<typeof DeliveryMessageSchema>

export type Request = Pick<FullDelivery, 'id' | 'guid' | 'event' | 'action' | 'redelivery'>
export type Recorded = Omit<FullDelivery, 'hook_id' | 'payload_id' | 'repo_id' | 'throttled_at'>

/** The request; `bytes` is null when the payload was too large. */
interface Sent {
  bytes: Buffer | null
  signed: SignedHeaders
}

export function deliveryMessageJson(
  hook: Hook,
  request: Request,
  { bytes, signed }: Sent,
  recorded: Recorded | null,
): DeliveryMessage {
  const { id, guid, event, action, redelivery } = request
  return {
    id,
    guid,
    event,
    action,
    redelivery,
    headers: headersOf(request, hook, signed),
    body: bytes?.toString() ?? null,
    content_type: signed['content-type'] ?? '',
    url: recorded?.url ?? listening,
    outcome: recorded && {
      delivered_at: recorded.delivered_at.toISOString(),
      duration: recorded.duration,
      status: recorded.status,
      status_code: recorded.status_code,
      response: { headers: joinHeaders(recorded.response_headers), payload: recorded.response_body },
    },
  }
}
