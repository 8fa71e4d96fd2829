import { listening } from '#activity/outbox/outbox.ts'
import type { SecretCache } from '#parts/webhooks/secrets.ts'
import { headersOf, sign } from '#parts/webhooks/signing.ts'
import type { ClaimedDelivery } from './claim.ts'
import type { Exchange } from './exchange.ts'
import { type Failure, failureOf, notTaken, responseStatus, tooLarge } from './failures.ts'
import type { Outcome } from './outcomes.ts'
import type { Payload } from './payload-cache.ts'
import { retryAfter, retryIn } from './retry.ts'
import type { Transport } from './transport.ts'

export interface DeliveryDeps {
  secrets: SecretCache
  transport: Transport
  /** The User-Agent header. */
  agent: string
  /** For the whole exchange, in seconds. */
  timeout: number
  retries: number
  clock: { readonly now: Date }
}

/** Sends one delivery. A failure of the receiver or of the network is an outcome, not an error. */
export async function deliver(
  { secrets, transport, agent, timeout, retries, clock }: DeliveryDeps,
  delivery: ClaimedDelivery,
  payload: Payload | undefined,
  stopping: AbortSignal,
): Promise<Outcome> {
  const { id, hook_id, guid, url, content_type, insecure_ssl, attempts } = delivery
  stopping.throwIfAborted()
  const sent_at = clock.now
  const body = payload?.bytes(content_type)
  const signed = body ? sign(body, guid, { content_type, agent, ...secrets.of(hook_id, delivery, sent_at), sent_at }) : {}
  const begun = performance.now()
  const result = await exchange()
  const answer = 'headers' in result ? result : undefined
  const { status_code } = result
  const status = 'status' in result ? result.status : responseStatus(status_code)
  return {
    ...{ id, hook_id, url, status, status_code },
    delivered_at: clock.now,
    duration: Math.round(performance.now() - begun) / 1000,
    request_headers: signed,
    response_headers: answer?.headers ?? null,
    response_body: answer?.body ?? null,
    retry_in: body ? retryIn(status_code, attempts, retries, answer) : null,
    retry_after: retryAfter(answer),
  }

  async function exchange(): Promise<Exchange | Failure> {
    if (url === listening) return notTaken
    if (!body) return tooLarge
    const headers = headersOf(delivery, signed)
    return transport.post(url, headers, body, insecure_ssl, timeout, stopping).catch(failureOf)
  }
}
