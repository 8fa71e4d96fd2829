import { request } from 'undici'
import { failureOf } from '#parts/webhooks/sending/failures.ts'
import type { Transport } from '#parts/webhooks/sending/transport.ts'
import { codeOf } from '#platform/database.ts'
import type { DeliveryMessage } from './json.ts'
import type { Report } from './report.ts'

/** A delivery waits half a minute for its outcome: what takes longer is told in time. In milliseconds. */
const patience = 25_000
const never = new AbortController().signal

/** Sends what was told once more, as it was sent or would have been. */
export async function forward(
  transport: Transport,
  to: string,
  { headers, body }: DeliveryMessage,
): Promise<Report & { duration: number }> {
  if (body === null) return { error: 'it was too large to be sent', duration: 0 }
  const begun = performance.now()
  const answer = await transport
    .post(to, headers, Buffer.from(body), false, patience / 1000, never)
    .catch((error) => ({ error: failureOf(error).status.slice(0, 200) }))
  return { ...answer, duration: Math.round(performance.now() - begun) / 1000 }
}

/** Gives what went wrong, if anything did. */
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
    return statusCode === 404 ? 'somebody else was faster, or it took too long' : `the server answers ${statusCode}`
  } catch (error) {
    return (error as Error).message || codeOf(error) || 'the server cannot be reached'
  }
}
