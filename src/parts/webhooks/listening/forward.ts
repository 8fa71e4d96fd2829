import { request } from 'undici'
import { failureOf } from '#parts/webhooks/sending/failures.ts'
import type { Transport } from '#parts/webhooks/sending/transport.ts'
import { codeOf } from '#platform/database.ts'
import type { DeliveryMessage } from './json.ts'
import type { Report } from './report.ts'

/** Less than the 30 seconds that a delivery waits for its outcome. In milliseconds. */
const patience = 25_000
const never = new AbortController().signal

export async function forward(
  transport: Transport,
  to: string,
  { headers, body }: DeliveryMessage,
): Promise<Report & { duration: number }> {
  if (body === null) return { error: 'the payload is too large to be sent', duration: 0 }
  const begun = performance.now()
  const answer = await transport
    .post(to, headers, Buffer.from(body), false, patience / 1000, never)
    .catch((error) => ({ error: failureOf(error).status.slice(0, 200) }))
  return { ...answer, duration: Math.round(performance.now() - begun) / 1000 }
}

/** Returns the reason if the report was not accepted. */
export async function reportBack(
  hook: string,
  token: string,
  { id }: DeliveryMessage,
  report: Report,
): Promise<string | undefined> {
  try {
    const { statusCode, body } = await request(`${hook}/deliveries/${id}/outcome`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(report),
      headersTimeout: patience,
      bodyTimeout: patience,
    })
    await body.dump()
    if (statusCode === 204) return undefined
    return statusCode === 404 ? 'another client reported it first, or the time was over' : `the server responds ${statusCode}`
  } catch (error) {
    return (error as Error).message || codeOf(error) || 'the server cannot be reached'
  }
}
