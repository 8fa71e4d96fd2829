import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Database } from '#platform/database.ts'
import { ReadCache } from '#platform/read-cache.ts'
import { cacheControl, describeAnswer } from './call.ts'
import { isFresh, isUnchanged, type Version } from './conditional.ts'
import type { Endpoint } from './endpoint.ts'
import { branded } from './headers.ts'
import { readParameters } from './parameters.ts'
import type { PollInterval } from './poll-interval.ts'

/** A complete response of a polled endpoint. */
export interface KeptAnswer {
  status: number
  body: string
  headers: Record<string, string>
  /** Set if the endpoint sends `Last-Modified`. */
  version: Version | undefined
  /** The headers of a 304 as alternating names and values, composed when the first one is sent. */
  unchanged?: string[]
}

/** Limited to 32 MB per variant, because a page of 100 events can take a megabyte. */
export const keepAnswers = (db: Database) =>
  new ReadCache<KeptAnswer>(db, { entries: 500, bytes: 32 * 1024 * 1024, sizeOf: ({ body }) => 2 * body.length })

/** Longer keys are hashed, because an address may have 16 KB. */
const longestKey = 300

/** Everything that the response to a GET depends on, except the time. */
export function keyOf(endpoint: Endpoint, { url, call: { variant, dialect, wire, caller } }: FastifyRequest) {
  const who = caller.token ? `token ${caller.token.id}` : (caller.user?.id ?? '')
  const mark = url.indexOf('?')
  const address = mark < 0 ? url : `${url.slice(0, mark)}?${readParameters(endpoint, url)}`
  const key = `${variant.name} ${wire.version} ${dialect.media_type} ${who} ${address}`
  return key.length > longestKey ? hash('sha1', key) : key
}

/** `version` is what this request sees: a request that waited while a new version was found never gets a 304 by date. */
export function sendKept(
  { seconds }: PollInterval,
  request: FastifyRequest,
  reply: FastifyReply,
  kept: KeptAnswer,
  version: Version | undefined,
) {
  const { status, headers, body } = kept
  const fresh = isFresh(request.headers, headers.ETag) || (version && isUnchanged(request.headers, version))
  if (fresh && !request.call.allowance) return sendUnchanged(request, reply, kept, seconds)
  reply.header('X-Poll-Interval', seconds).headers(headers)
  return fresh ? reply.code(304).send() : reply.code(status).type('application/json; charset=utf-8').send(body)
}

/** Bypasses Fastify, which would set the same dozen headers again. This serves 1.5 times as many requests. */
function sendUnchanged(request: FastifyRequest, reply: FastifyReply, kept: KeptAnswer, seconds: number) {
  const { call } = request
  kept.unchanged ??= Object.entries({
    ...describeAnswer(call),
    ...(reply.getHeaders() as Record<string, string>),
    ...kept.headers,
    'Cache-Control': cacheControl(call),
  }).flat()
  const own = [branded(call.dialect.brand, 'Request-Id'), request.id, 'X-Poll-Interval', String(seconds)]
  reply.hijack().raw.writeHead(304, kept.unchanged.concat(own)).end()
  return reply
}
