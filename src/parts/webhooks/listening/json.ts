import { listening } from '#activity/outbox/outbox.ts'
import { NullableString, Timestamp } from '#http/serialization.ts'
import type { Hook } from '#parts/webhooks/hooks.ts'
import { headersOf, type SignedHeaders } from '#parts/webhooks/signing.ts'
import { type Static, Type } from '#platform/schema.ts'

const Headers = Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } })
const NullableHeaders = Type.Unsafe<Record<string, string> | null>({
  type: ['object', 'null'],
  additionalProperties: { type: 'string' },
})

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

export interface Request {
  id: number
  guid: string
  event: string
  action: string | null
  redelivery: boolean
}

export interface Recorded extends Request {
  url: string
  delivered_at: Date
  duration: number
  status: string
  status_code: number
  response_headers: Record<string, string> | null
  response_body: string | null
}

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
  const { id: hook_id, target_id, target_type } = hook
  const { id, guid, event, action, redelivery } = request
  return {
    id,
    guid,
    event,
    action,
    redelivery,
    headers: headersOf({ guid, event, hook_id, target_id, target_type }, signed),
    body: bytes?.toString() ?? null,
    content_type: signed['content-type'] ?? '',
    url: recorded?.url ?? listening,
    outcome: recorded && {
      delivered_at: recorded.delivered_at.toISOString(),
      duration: recorded.duration,
      status: recorded.status,
      status_code: recorded.status_code,
      response: { headers: recorded.response_headers, payload: recorded.response_body },
    },
  }
}
