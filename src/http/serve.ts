import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { endWhenIdle } from '#git/idle-clients.ts'
import type { Database } from '#platform/database.ts'
import { forbidden, missing } from '#platform/errors.ts'
import type { ReadCache } from '#platform/read-cache.ts'
import type { Topic } from '#platform/topics.ts'
import type { Call, Reauthorize } from './call.ts'
import { etagOf, isFresh, type Version, versionOf } from './conditional.ts'
import { noteRecords } from './deletion.ts'
import { takeEarly } from './early-repository.ts'
import { Answer, type BaseContext, type Endpoint, type RawBody, type Revalidate } from './endpoint.ts'
import { readQuery } from './input.ts'
import { chooseMedium, mediaType, Represented } from './media.ts'
import { cursorLinks, linkHeader, readPage, usualPages } from './paging.ts'
import { readParameters } from './parameters.ts'
import type { PollInterval } from './poll-interval.ts'
import { readUpload } from './raw-body.ts'
import { inAcceptedForms, type RenderBodies } from './rendered-bodies.ts'
import { cacheKeyOf, type MadeResponse, type ResponseCache } from './response-cache.ts'
import { findVersion } from './response-validators.ts'
import { loadRouteParams, type PathLoaders } from './route-params.ts'
import { isHad, sendCached } from './send-cached.ts'
import { openStream, type Step, streamHeaders } from './stream.ts'

/** What serving needs besides the request, for one variant on one listener. */
export interface Resources {
  belfry: Belfry
  loaders: PathLoaders
  renderBodies: RenderBodies
  cache: ReadCache<unknown>
  /** Responses of polled endpoints. */
  responses: ResponseCache
  poll_interval: PollInterval
  reauthorize: Reauthorize
  /** Ends when the listener closes. */
  closing: AbortSignal
}

/** Serves a request of an admitted caller. */
export async function serve(resources: Resources, endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply) {
  if (endpoint.streamed) return follow(resources, endpoint, request, reply)
  const { db, replica: known } = resources.belfry
  const replica = endpoint.replicated && known
  if (!endpoint.polled && !endpoint.kept) {
    const read = (from: Database) => answer(resources, endpoint, request, reply, from)
    return send(resources, request, reply, (await replica?.read(read))?.value ?? (await read(db)))
  }
  if (endpoint.followed && request.call.dialect.takes_stream) return follow(resources, endpoint, request, reply)
  const key = cacheKeyOf(endpoint, request)
  const load = async (from: Database): Promise<MadeResponse> => {
    const {
      status,
      headers,
      body,
      topics,
      version: known,
      before_sending,
    } = await answer(resources, endpoint, request, reply, from)
    const text = reply.code(status).serialize(body) as string
    const etag = etagOf(`${headers.Link ?? ''}${text}`)
    const [version] = await Promise.all([endpoint.last_modified ? findVersion(db, key, etag) : known, before_sending?.()])
    return {
      response: { status, headers: { ...headers, ETag: etag }, version },
      body: text,
      topics: topics && [...topics, ...callerTopics(request)],
    }
  }
  // Which events are newer changes when a transaction ends, even by a rollback.
  const isUncacheable = Boolean(readParameters(endpoint, request.url).get('after'))
  const { response, body } = await (isUncacheable
    ? load(db)
    : endpoint.kept === 'for good'
      ? resources.responses.makeForGood(key, () => load(db))
      : resources.responses.getOrLoad(key, load, (response) => isHad(request, response), replica))
  const sent = isHad(request, response) ? undefined : body
  return sendCached(intervalOf(resources, endpoint), request, reply, response, sent, db.now)
}

/** Serves a cached response synchronously. Most requests for polled endpoints end here. */
export function serveCached(resources: Resources, endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply) {
  const { belfry, responses } = resources
  if (request.call.dialect.takes_stream) return undefined
  const key = cacheKeyOf(endpoint, request)
  const response = endpoint.kept === 'for good' ? responses.peekForGood(key) : responses.peek(key)
  if (!response) return undefined
  const had = isHad(request, response)
  const body = had ? undefined : responses.bodyOf(key, response)
  if (!had && body === undefined) return undefined
  return sendCached(intervalOf(resources, endpoint), request, reply, response, body, belfry.db.now)
}

const intervalOf = ({ poll_interval }: Resources, { polled }: Endpoint) => (polled ? poll_interval : undefined)

interface Ready {
  status: number
  headers: Record<string, string>
  body: unknown
  topics: readonly Topic[] | undefined
  version: Version | undefined
  before_sending: Answer<unknown>['before_sending']
}

function send({ belfry }: Resources, request: FastifyRequest, reply: FastifyReply, { status, headers, body }: Ready) {
  reply.headers(headers).code(status)
  if (!(body instanceof Represented)) return reply.send(body)
  const { medium, content } = body
  if (content instanceof Readable) {
    endWhenIdle(request.raw, reply.raw, belfry.storage.limits.idle, () => request.raw.destroy())
  }
  const type = mediaType(request.call.dialect.brand, medium)
  return reply.type(medium === 'octets' ? type : `${type}; charset=utf-8`).send(content)
}

async function answer(
  resources: Resources,
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  db: Database,
): Promise<Ready> {
  const { context, search } = await openContext(resources, endpoint, request, reply, db)
  const handler = endpoint.handler as (context: object) => unknown
  const writes = endpoint.method !== 'GET' && !endpoint.own_transaction
  const result = writes
    ? await db.transaction(async (transaction) => handler({ ...context, db: transaction }))
    : await handler(context)
  const {
    body: made,
    status,
    headers,
    total,
    cursors,
    changed_at,
    topics,
    before_sending,
  } = result instanceof Answer ? result : new Answer(result, {})
  const body = await inAcceptedForms(endpoint, context, made, resources.renderBodies)
  const address = `${request.call.wire.api}${request.originalUrl.slice(request.call.variant.prefix.length).split('?')[0]}`
  const link = cursors
    ? cursorLinks(address, search, cursors)
    : total !== undefined && linkHeader(address, search, context.page, total)
  return {
    topics,
    version: changed_at && versionOf(changed_at),
    before_sending,
    body,
    status: status ?? Number(Object.keys(endpoint.answers)[0]),
    headers: { ...headers, ...(link && { Link: link }) },
  }
}

async function openContext(
  resources: Resources,
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  db = resources.belfry.db,
) {
  const { belfry, loaders, cache } = resources
  const { call } = request
  const search = readParameters(endpoint, request.url)
  const params = request.params as Record<string, string>
  const records = await loadRouteParams(loaders, db, endpoint, call.caller, params, takeEarly(call))
  const { repo, org, user } = records as Partial<Record<string, { id: number }>>
  noteRecords(request, { repo, accounts: [call.caller.user, org, user] })
  const rule = typeof endpoint.list === 'function' ? endpoint.list(call.variant) : usualPages
  const context = {
    ...(call satisfies Omit<BaseContext, 'page' | 'storage' | 'revalidate' | 'cached' | 'following'> & Call),
    revalidate: revalidator(request, reply),
    // What a replica returns may be out of date.
    cached: <T>(key: string, load: () => Promise<T>) => (db === belfry.db ? (cache.getOrLoad(key, load) as Promise<T>) : load()),
    following: undefined,
    storage: belfry.storage,
    ...records,
    db,
    viewer: call.caller.user,
    medium: chooseMedium(endpoint.media, call.dialect),
    page: readPage(search, rule),
    body: endpoint.raw_body ? rawBodyOf(resources, endpoint, request, repo) : request.body,
    query: endpoint.query ? readQuery(endpoint.query, search) : {},
  }
  return { context, search }
}

/** Access is checked again when the body has arrived. */
function rawBodyOf(
  { belfry, loaders, reauthorize }: Resources,
  endpoint: Endpoint,
  request: FastifyRequest,
  repo: { id: number } | undefined,
): RawBody {
  const { raw, headers, params } = request
  const recheck = async () => {
    await reauthorize(request)
    const again = await loadRouteParams(loaders, belfry.db, endpoint, request.call.caller, params as Record<string, string>)
    if ((again as { repo?: { id: number } }).repo?.id !== repo?.id) throw missing()
  }
  return { content: readUpload(raw, recheck), type: headers['content-type'] ?? '' }
}

/** Derives the ETag from the key; a client that sends it back needs no body. */
function revalidator({ headers }: FastifyRequest, reply: FastifyReply): Revalidate {
  return (key, make) => {
    const etag = etagOf(key)
    reply.header('ETag', etag)
    return isFresh(headers, etag) ? new Answer<never>(undefined as never, { status: 304 }) : make()
  }
}

/** What the access of the caller depends on: the account, and what the token permits. */
const callerTopics = ({ call: { caller } }: FastifyRequest): Topic[] => [
  ...(caller.user ? ([`a${caller.user.id}`] as const) : []),
  ...(caller.token ? ([`k${caller.token.id}`] as const) : []),
]

/** The same list as it grows: at every step the caller, and what the path names, are found again. */
async function follow(resources: Resources, endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply) {
  const { via } = request.call.caller
  // Only a token is checked again while the stream is open.
  if (via === 'password' || via === 'session') throw forbidden('To follow what happens, use a token.')
  const handler = endpoint.handler as (context: object) => Promise<Answer<{ id: string }[]> | Step>
  const look = async (following: string | null): Promise<Step> => {
    const { context } = await openContext(resources, endpoint, request, reply)
    const found = await handler({ ...context, following })
    if (!(found instanceof Answer)) return found
    const { body, bookmark = null, topics } = found
    const last = body.at(-1)
    const idOf = (one: { id: string }) => (endpoint.followed === 'by id' ? one.id : one === last ? bookmark : null)
    return {
      news: body.map((one) => ({ id: idOf(one), data: one })),
      bookmark,
      topics: topics && [...topics, ...callerTopics(request)],
    }
  }
  const given = request.headers['last-event-id']
  const last = typeof given === 'string' ? given : null
  // A HEAD request has no body to stream.
  if (request.method === 'HEAD') {
    await look(last)
    return reply.headers(streamHeaders).send('')
  }
  let begun = false
  const stream = await openStream(resources.belfry, {
    key: cacheKeyOf(endpoint, request),
    user_id: request.call.caller.user?.id ?? null,
    ip: request.ip,
    last,
    look: async (bookmark) => {
      if (begun) await resources.reauthorize(request)
      begun = true
      return look(bookmark)
    },
    closing: resources.closing,
  })
  return reply.headers(streamHeaders).send(stream)
}
