import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Caller } from '#identity/callers.ts'
import { ByteCache } from '#platform/byte-cache.ts'
import { CheckedCache } from '#platform/checked-cache.ts'
import type { Database } from '#platform/database.ts'
import type { Replica } from '#platform/replica.ts'
import type { Topic } from '#platform/topics.ts'
import type { Version } from './conditional.ts'
import type { Endpoint } from './endpoint.ts'
import { readParameters } from './parameters.ts'

/** A response of a polled endpoint, without the body. */
export interface CachedResponse {
  status: number
  headers: Record<string, string>
  /** Set if the endpoint sends `Last-Modified`. */
  version: Version | undefined
  /** The headers as alternating names and values, composed when it is first sent. They name the scopes of the caller's token. */
  composed?: { caller: Caller; headers: string[] }
}

export interface MadeResponse {
  response: CachedResponse
  body: string
  topics: readonly Topic[] | undefined
}

export interface FoundResponse {
  response: CachedResponse
  /** Undefined if the caller needs none. */
  body: string | undefined
}

/**
 * The responses of polled endpoints. A 304 needs no body, so responses are kept longer than their bodies: 96 and 32 MB for each variant. A
 * response takes about a kilobyte, so 10,000 people can poll 10 addresses each; a page of 100 events can take a megabyte.
 */
export class ResponseCache {
  readonly #responses: CheckedCache<CachedResponse>
  readonly #bodies = new ByteCache<{ etag: string | undefined; body: string }>(32 * 1024 * 1024)

  /** Those that depend on nothing in the database, so that they are sent also while it is away. */
  readonly #forGood = new ByteCache<CachedResponse>(8 * 1024 * 1024)

  constructor(db: Database) {
    this.#responses = new CheckedCache(db, 96 * 1024 * 1024)
    db.onRewound(() => this.#bodies.clear())
  }

  /** The response, if nothing was committed since it was last right. */
  peek(key: string): CachedResponse | undefined {
    return this.#responses.peek(key)
  }

  /** See CheckedCache. */
  prepare(key: string) {
    this.#responses.prepare(key)
  }

  /** Loads the body only if `suffices` says that the response without it is not enough. */
  async getOrLoad(
    key: string,
    load: (db: Database) => Promise<MadeResponse>,
    suffices: (response: CachedResponse) => boolean,
    replica?: Replica,
  ): Promise<FoundResponse> {
    let made: MadeResponse | undefined
    const response = await this.#responses.getOrLoad(
      key,
      async (db) => {
        made = await load(db)
        const { status, headers, version } = made.response
        this.#bodies.set(key, { etag: headers.ETag, body: made.body }, 2 * made.body.length)
        return {
          value: { status, headers, version: version && { ...version, found: false } },
          topics: made.topics,
          bytes: 250 + (headers.Link?.length ?? 0),
        }
      },
      { suffices: (kept) => this.bodyOf(key, kept) !== undefined || suffices(kept), replica },
    )
    // A copy, because the composed headers would take more than the rest of an entry.
    return made ?? { response: { ...response }, body: this.bodyOf(key, response) }
  }

  peekForGood(key: string): CachedResponse | undefined {
    return this.#forGood.get(key)
  }

  async makeForGood(key: string, make: () => Promise<MadeResponse>): Promise<FoundResponse> {
    const made = await make()
    this.#forGood.set(key, { ...made.response }, 2000)
    this.#bodies.set(key, { etag: made.response.headers.ETag, body: made.body }, 2 * made.body.length)
    return made
  }

  /** Undefined if the body is no longer kept. */
  bodyOf(key: string, { headers: { ETag } }: CachedResponse) {
    const kept = this.#bodies.get(key)
    return kept?.etag === ETag ? kept?.body : undefined
  }
}

/** Longer keys are hashed, because an address may have 16 KB. */
const longestKey = 300

/**
 * Everything that the response to a GET depends on, except the time. With the caller's edition, because this process may hear of a commit after the
 * database shows it: a response that is made in between, for what the token permitted before, must not be found afterwards.
 */
export function cacheKeyOf(endpoint: Endpoint, { url, call }: FastifyRequest, caller = call.caller) {
  const { variant, dialect, wire } = call
  const { token, user, edition } = caller
  const who = endpoint.kept === 'for good' ? 'anyone' : token ? `token ${token.id} ${edition}` : (user?.id ?? '')
  const mark = url.indexOf('?')
  const address = mark < 0 ? url : `${url.slice(0, mark)}?${readParameters(endpoint, url)}`
  const key = `${variant.name} ${wire.version} ${dialect.media_type} ${who} ${address}`
  return key.length > longestKey ? hash('sha1', key) : key
}
