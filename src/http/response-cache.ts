import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ByteCache } from '#platform/byte-cache.ts'
import type { Database } from '#platform/database.ts'
import { responseAge, type Snapshot, snapshotAge, type Topic, type TopicChecks } from '#platform/topics.ts'
import { cacheControl, describeAnswer } from './call.ts'
import { isFresh, isUnchanged, lastModifiedOf, type Version } from './conditional.ts'
import type { Endpoint } from './endpoint.ts'
import { branded } from './headers.ts'
import { readParameters } from './parameters.ts'
import type { PollInterval } from './poll-interval.ts'

/** A response of a polled endpoint, without the body. */
export interface CachedResponse {
  status: number
  headers: Record<string, string>
  /** Set if the endpoint sends `Last-Modified`. */
  version: Version | undefined
  /** The headers of a 304 as alternating names and values, composed when the first one is sent. */
  unchanged?: string[]
}

export interface MadeResponse {
  response: CachedResponse
  body: string
  /** What the response depends on. If that is not known, any commit makes it out of date. */
  topics: readonly Topic[] | undefined
}

export interface FoundResponse {
  response: CachedResponse
  /** Undefined if the caller needs none. */
  body: string | undefined
}

/** When a response was last known to be right: by the commits of this process, by the monotonic clock and by the injected one. */
interface Moment {
  commits: number
  at: number
  now: number
}

interface Kept extends Moment, Omit<MadeResponse, 'body'> {
  snapshot: Snapshot
  /** By the injected clock. */
  made_at: number
}

/** In milliseconds. The notification of another node's commit may be lost. */
const longestUnchecked = 800
const minute = 60_000

/**
 * The responses of polled endpoints. After a commit, the topics that a response depends on are checked: if none has changed, the response is
 * still right, and a 304 is sent without making it again. Limited in bytes, for each variant: a page of 100 events can take a megabyte.
 */
export class ResponseCache {
  readonly #db: Database
  readonly #checks: TopicChecks
  readonly #kept = new ByteCache<Kept>(64 * 1024 * 1024)
  readonly #bodies = new ByteCache<string>(32 * 1024 * 1024)
  readonly #loading = new Map<string, Moment & { found: Promise<FoundResponse> }>()
  #sweep: NodeJS.Timeout | undefined

  constructor(db: Database, checks: TopicChecks) {
    this.#db = db
    this.#checks = checks
  }

  /** The response, if nothing was committed since it was last right. */
  peek(key: string): FoundResponse | undefined {
    const kept = this.#kept.get(key)
    return kept && this.#isRight(kept) ? { response: kept.response, body: this.#bodies.get(key) } : undefined
  }

  /** Loads the body only if `suffices` says that the response without it is not enough. Concurrent callers share a load. */
  async getOrLoad(
    key: string,
    load: () => Promise<MadeResponse>,
    suffices: (response: CachedResponse) => boolean,
  ): Promise<FoundResponse> {
    const begun = this.#loading.get(key)
    const shared = begun && this.#isRight(begun) ? await begun.found : undefined
    if (shared && (shared.body !== undefined || suffices(shared.response))) return shared
    // Read before the load, because a commit during the load makes the response out of date.
    const moment = { commits: this.#db.commits, at: performance.now(), now: this.#db.now.getTime() }
    const loading = { ...moment, found: this.#findOrLoad(key, moment, load, suffices) }
    this.#loading.set(key, loading)
    try {
      return await loading.found
    } finally {
      if (this.#loading.get(key) === loading) this.#loading.delete(key)
    }
  }

  async #findOrLoad(
    key: string,
    moment: Moment,
    load: () => Promise<MadeResponse>,
    suffices: (response: CachedResponse) => boolean,
  ): Promise<FoundResponse> {
    const kept = this.#kept.get(key)
    const former = kept && this.#isCheckable(kept) ? kept : undefined
    const unknown = kept && !kept.topics
    const { changed, snapshot } = unknown
      ? { changed: true, snapshot: '' }
      : await this.#checks.check(former?.topics ?? [], former?.snapshot)
    const body = this.#bodies.get(key)
    if (former && !changed && (body !== undefined || suffices(former.response))) {
      this.#keep(key, { ...former, ...moment, snapshot })
      // A copy, because the composed headers of a 304 would take most of an entry.
      return { response: { ...former.response }, body }
    }
    const made = await load()
    const { status, headers, version } = made.response
    const response = { status, headers, version: version && { ...version, found: false } }
    this.#keep(key, { ...moment, response, topics: made.topics, snapshot, made_at: moment.now })
    this.#bodies.set(key, made.body, 2 * made.body.length)
    return made
  }

  #isRight({ commits, at, now }: Moment) {
    if (commits !== this.#db.commits || performance.now() - at >= longestUnchecked) return false
    return Math.abs(this.#db.now.getTime() - now) < longestUnchecked
  }

  #isCheckable({ topics, at, made_at }: Kept) {
    return topics && performance.now() - at < snapshotAge && Math.abs(this.#db.now.getTime() - made_at) < responseAge
  }

  /** An entry takes about a kilobyte. */
  #keep(key: string, kept: Kept) {
    this.#kept.set(key, kept, 1000 + 2 * key.length + 40 * (kept.topics?.length ?? 0))
    this.#sweep ??= setTimeout(() => this.#removeOld(), minute).unref()
  }

  /** Removes entries even if no other response is requested. */
  #removeOld() {
    const old = performance.now() - responseAge
    for (const key of this.#kept.removeWhile(({ at }) => at < old)) this.#bodies.remove(key)
    this.#sweep = this.#kept.bytes ? setTimeout(() => this.#removeOld(), minute).unref() : undefined
  }
}

/** Longer keys are hashed, because an address may have 16 KB. */
const longestKey = 300

/** Everything that the response to a GET depends on, except the time. */
export function cacheKeyOf(endpoint: Endpoint, { url, call: { variant, dialect, wire, caller } }: FastifyRequest) {
  const who = caller.token ? `token ${caller.token.id}` : (caller.user?.id ?? '')
  const mark = url.indexOf('?')
  const address = mark < 0 ? url : `${url.slice(0, mark)}?${readParameters(endpoint, url)}`
  const key = `${variant.name} ${wire.version} ${dialect.media_type} ${who} ${address}`
  return key.length > longestKey ? hash('sha1', key) : key
}

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
