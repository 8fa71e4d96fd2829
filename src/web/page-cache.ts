import type { FastifyRequest } from 'fastify'
import type { Database } from '#platform/database.ts'
import { ReadCache } from '#platform/read-cache.ts'
import { readCookie, sessionCookie, visitCookie, withoutCookie } from './cookies.ts'
import type { SentPage } from './layout.ts'

/**
 * Keeps pages of signed-out visitors until a transaction commits, 0.8 s at most: many may come at once, after a link elsewhere. They share a
 * page unless it has a form. Pages of signed-in users are always made anew, because some of what they show is written without a transaction.
 */
export class PageCache {
  readonly #kept: ReadCache<SentPage>

  constructor(db: Database) {
    const sizeOf = ({ payload }: SentPage) => payload.length * (typeof payload === 'string' ? 2 : 1)
    this.#kept = new ReadCache(db, { entries: 1000, bytes: 8 * 1024 ** 2, sizeOf })
  }

  find(request: FastifyRequest): SentPage | undefined {
    const key = keyOf(request)
    return key === undefined ? undefined : this.#kept.peek(key)
  }

  /** To be called before anything is read, because a commit while the page is made must expire it. Takes the page, or undefined to keep none. */
  begin(request: FastifyRequest): (page?: SentPage) => void {
    const key = keyOf(request)
    if (key === undefined) return () => {}
    const { promise, resolve, reject } = Promise.withResolvers<SentPage>()
    promise.catch(() => {})
    this.#kept.getOrLoad(key, () => promise).catch(() => {})
    return (page) => (page ? resolve(page) : reject(new Error('This page is not kept.')))
  }
}

/** All that pages depend on, except for forms. Undefined: the page is not kept. */
function keyOf(request: FastifyRequest) {
  const { method, url, headers } = request
  if (method !== 'GET' || readCookie(request, sessionCookie) !== undefined) return undefined
  // A link that signs in answers a browser that only looks ahead differently.
  if ('authorization' in headers || 'sec-purpose' in headers) return undefined
  const cookies = withoutCookie(headers.cookie ?? '', visitCookie)
  return [url, cookies, headers['accept-encoding'], headers.accept, headers.host].join('\n')
}
