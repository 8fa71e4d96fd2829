import type { FastifyReply, FastifyRequest } from 'fastify'
import { cacheControl, describeAnswer } from './call.ts'
import { isFresh, isUnchanged, lastModifiedOf } from './conditional.ts'
import { branded } from './headers.ts'
import type { PollInterval } from './poll-interval.ts'
import type { CachedResponse } from './response-cache.ts'

/** Whether the client has this response already. A version that this request has just found is no one's yet. */
export const isHad = ({ headers }: FastifyRequest, { headers: { ETag }, version }: CachedResponse) =>
  isFresh(headers, ETag) || (version !== undefined && isUnchanged(headers, version))

/** Without a body: a 304. */
export function sendCached(
  interval: PollInterval | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
  response: CachedResponse,
  body: string | undefined,
  now: Date,
) {
  const { status, headers, version } = response
  const own = interval ? ['X-Poll-Interval', String(interval.seconds)] : []
  if (version) own.push('Last-Modified', lastModifiedOf(version, now))
  if (!request.call.allowance) return sendDirectly(request, reply, response, body, own)
  for (let index = 0; index < own.length; index += 2) reply.header(own[index] as string, own[index + 1])
  reply.headers(headers)
  return body === undefined ? reply.code(304).send() : reply.code(status).type(json).send(body)
}

const json = 'application/json; charset=utf-8'

/** Bypasses Fastify, which would set the same dozen headers again. This serves 1.5 times as many requests. */
function sendDirectly(
  request: FastifyRequest,
  reply: FastifyReply,
  cached: CachedResponse,
  body: string | undefined,
  own: string[],
) {
  const { call } = request
  if (cached.composed?.caller !== call.caller) {
    const all = {
      ...describeAnswer(request),
      ...(reply.getHeaders() as Record<string, string>),
      ...cached.headers,
      'Cache-Control': cacheControl(call),
    }
    cached.composed = { caller: call.caller, headers: Object.entries(all).flat() }
  }
  const headers = [...cached.composed.headers, branded(call.dialect.brand, 'Request-Id'), request.id, ...own]
  if (body !== undefined) headers.push('Content-Type', json, 'Content-Length', String(Buffer.byteLength(body)))
  reply
    .hijack()
    .raw.writeHead(body === undefined ? 304 : cached.status, headers)
    .end(body)
  return reply
}
