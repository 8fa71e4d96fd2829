import { listening } from '#activity/outbox/outbox.ts'
import type { openSecretCache } from '#parts/webhooks/secrets.ts'
import { headersOf, sign } from '#parts/webhooks/signing.ts'
import type { Span, Tracer } from '#platform/tracing/tracer.ts'
import type { ClaimedDelivery } from './claim.ts'
import type { Exchange } from './exchange.ts'
import { type Failure, failureOf, notTaken, responseStatus, tooLarge } from './failures.ts'
import type { Outcome } from './outcomes.ts'
import type { Payload } from './payload-cache.ts'
import type { Transport } from './transport.ts'

export interface DeliveryDeps {
  secretsOf: ReturnType<typeof openSecretCache>
  transport: Transport
  /** The User-Agent header. */
  agent: string
  /** For the whole exchange, in seconds. */
  timeout: number
  retries: number
  /** Whether receivers get the header `traceparent` of a traced delivery. */
  send_traceparent: boolean
  db: { readonly now: Date; readonly tracer: Tracer | undefined }
}

/** Sends one delivery. A failure of the receiver or of the network is an outcome, not an error. */
export async function deliver(
  { secretsOf, transport, agent, timeout, retries, send_traceparent, db }: DeliveryDeps,
  delivery: ClaimedDelivery,
  payload: Payload | undefined,
  stopping: AbortSignal,
): Promise<Outcome> {
  const { id, hook_id, guid, url, content_type, insecure_ssl, attempts, target_id, target_type } = delivery
  stopping.throwIfAborted()
  const sent_at = db.now
  const body = payload?.bytes(content_type)
  const signed = body ? sign(body, guid, { content_type, agent, ...secretsOf(hook_id, delivery, sent_at), sent_at }) : {}
  const begun = performance.now()
  const result = await (db.tracer ? tracedExchange(db.tracer) : exchange())
  const answer = 'headers' in result ? result : undefined
  const { status_code } = result
  const status = 'status' in result ? result.status : responseStatus(status_code)
  return {
    ...{ id, hook_id, url, status, status_code },
    delivered_at: db.now,
    duration: Math.round(performance.now() - begun) / 1000,
    request_headers: signed,
    response_headers: answer?.headers ?? null,
    response_body: answer?.body ?? null,
    retry_in: body ? retryIn(status_code, attempts, retries, answer) : null,
    retry_after: retryAfter(answer),
  }

  function tracedExchange(tracer: Tracer) {
    const described = {
      'belfry.event': delivery.event,
      'belfry.hook_id': hook_id,
      'belfry.guid': guid,
      'belfry.attempt': attempts + 1,
    }
    return tracer.continued(delivery.traceparent, 'webhook delivery', 'client', described, async (span) => {
      const result = await exchange(span)
      span?.set({ 'http.response.status_code': result.status_code || undefined })
      span?.end(result.status_code < 200 || result.status_code > 299)
      return result
    })
  }

  async function exchange(span?: Span): Promise<Exchange | Failure> {
    if (url === listening) return notTaken
    if (!body) return tooLarge
    const headers: Record<string, string> = headersOf(delivery, { id: hook_id, target_id, target_type }, signed)
    if (send_traceparent && span) headers.traceparent = span.traceparent
    return transport.post(url, headers, body, insecure_ssl, timeout, stopping).catch(failureOf)
  }
}

/** The first and the longest pause between two attempts of one delivery, in seconds. */
const first = 10
const longest = 3600

/** Seconds until a failed delivery is retried, with exponential backoff and jitter; null for no retry. A 410 asks for no more requests. */
function retryIn(status_code: number, attempts: number, retries: number, answer: Exchange | undefined): number | null {
  if ((status_code >= 200 && status_code < 300) || status_code === 410 || attempts >= retries) return null
  const pause = Math.min(first * 4 ** attempts, longest)
  const spread = pause * (0.5 + Math.random() / 2)
  return Math.max(spread, Math.min(secondsAsked(answer), longest))
}

/** The pause in seconds that an overloaded receiver asks for. */
function retryAfter(answer: Exchange | undefined): number | null {
  return answer && [429, 503].includes(answer.status_code) ? secondsAsked(answer) : null
}

/** Retry-After is a number of seconds, or a date by the receiver's clock, which its Date header shows. */
function secondsAsked(answer: Exchange | undefined): number {
  const { 'retry-after': asked = '', date = '' } = answer?.headers ?? {}
  if (/^\d{1,9}$/.test(asked)) return Number(asked)
  const seconds = (Date.parse(asked) - Date.parse(date)) / 1000
  return seconds > 0 ? seconds : 0
}
