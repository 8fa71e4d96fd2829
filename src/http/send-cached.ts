import type { FastifyReply, FastifyRequest } from 'fastify'
import { cacheControl, describeAnswer } from './call.ts'
import { isFresh, isUnchanged, lastModifiedOf } from './conditional.ts'
import { branded } from './headers.ts'
import type { PollInterval } from './poll-interval.ts'
import type { CachedResponse, FoundResponse } from './response-cache.ts'

/** Whether the client has this response already. A version that this request has just found is no one's yet. */
export const isHad = ({ headers }: FastifyRequest, { headers: { ETag }, version }: CachedResponse) =>
  isFresh(headers, ETag) || (version !== undefined && isUnchanged(headers, version))

export function sendCached(
  { seconds }: PollInterval,
  request: FastifyRequest,
  reply: FastifyReply,
  { response, body }: FoundResponse,
  now: Date,
) {
  const { status, headers, version } = response
  const had = isHad(request, response)
  const own: Record<string, string> = {
    'X-Poll-Interval': String(seconds),
    ...(version && { 'Last-Modified': lastModifiedOf(version, now) }),
  }
  if (had && !request.call.allowance) return sendUnchanged(request, reply, response, own)
  reply.headers(own).headers(headers)
  return had ? reply.code(304).send() : reply.code(status).type('application/json; charset=utf-8').send(body)
}

/** Bypasses Fastify, which would set the same dozen headers again. This serves 1.5 times as many requests. */
function sendUnchanged(request: FastifyRequest, reply: FastifyReply, cached: CachedResponse, own: Record<string, string>) {
  const { call } = request
  cached.unchanged ??= Object.entries({
    ...describeAnswer(call),
    ...(reply.getHeaders() as Record<string, string>),
    ...cached.headers,
    'Cache-Control': cacheControl(call),
  }).flat()
  const headers = cached.unchanged.concat(branded(call.dialect.brand, 'Request-Id'), request.id, ...Object.entries(own).flat())
  reply.hijack().raw.writeHead(304, headers).end()
  return reply
}
