import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyInstance } from 'fastify'
import type { Account } from '#identity/accounts.ts'
import { anonymous, type Caller } from '#identity/callers.ts'
import type { Method } from './endpoint.ts'

/**
 * The caller of the request that the current page handler makes. It exists in memory during that call only, and no header can name it, so
 * there is no credential that could be stolen, stored or sent from outside.
 */
const pending = new AsyncLocalStorage<{ caller: Caller | undefined }>()

/** The visitor for whom this process makes the request; the first request takes it. */
export function takeVisitor(): Caller | undefined {
  const held = pending.getStore()
  const caller = held?.caller
  if (held) held.caller = undefined
  return caller
}

export interface VisitorRequest {
  method: Method
  /** A path on the listener, with its query. */
  url: string
  /** JSON; empty for none. */
  body: string
  /** The IP address of the visitor. */
  address: string
}

export interface VisitorResponse {
  status: number
  headers: Record<string, string>
  body: Buffer
  /** Whether there was more than `most` bytes. */
  truncated: boolean
}

/**
 * Sends a request to the API on this listener, with all rights of the visitor except those that need a password or a kind of token. All
 * hooks run, so limits, checks and logs are those of other requests. Reads at most so many bytes of the response, and rejects if the
 * response does not come in time.
 */
export async function requestAs(
  listener: FastifyInstance,
  visitor: Account,
  { method, url, body, address }: VisitorRequest,
  { most, milliseconds }: { most: number; milliseconds: number },
): Promise<VisitorResponse> {
  const caller: Caller = {
    ...anonymous,
    user: visitor,
    via: 'session',
    viewer_id: visitor.id,
    sees_private: true,
    may: () => true,
  }
  // `inject` sends the request when its result is awaited, so that happens inside.
  const reply = await pending.run(
    { caller },
    async () =>
      await listener.inject({
        method,
        url,
        headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
        ...(body && { payload: body }),
        remoteAddress: address,
        payloadAsStream: true,
        signal: AbortSignal.timeout(milliseconds),
      }),
  )
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of reply.stream() as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    length += chunk.length
    if (length > most) break
  }
  // Ends what still writes the rest.
  if (length > most) reply.raw.res.destroy()
  const headers = Object.entries(reply.headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return {
    status: reply.statusCode,
    headers: Object.fromEntries(headers),
    body: Buffer.concat(chunks).subarray(0, most),
    truncated: length > most,
  }
}
