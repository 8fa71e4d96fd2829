import type { Database } from './database.ts'

/** A commit of another node expires the cache within this time, even if its notification is lost. In milliseconds. */
const span = 800

interface Remembered<T> {
  value: Promise<T>
  /** Set when `value` has resolved, for callers that do not wait. */
  settled?: { value: T }
  /** Estimated, once it is loaded. */
  bytes: number
  commits: number
  /** By the monotonic clock and by the injected one: neither may have moved far. */
  at: number
  now: number
}

/** Limits of a cache. */
export interface Bounds<T> {
  entries: number
  bytes: number
  /** Estimates the size of a value in bytes. */
  sizeOf(value: T): number
}

/** For values of a few hundred bytes: their number is limit enough. */
const small: Bounds<unknown> = { entries: 5000, bytes: Infinity, sizeOf: () => 0 }

/** Caches reads for a moment, because clients send many requests in a row. Any commit expires all entries. */
export class ReadCache<T> {
  readonly #db: Pick<Database, 'commits' | 'now'>
  readonly #bounds: Bounds<T>
  /** Oldest first. */
  readonly #kept = new Map<string, Remembered<T>>()
  #bytes = 0
  #sweep: NodeJS.Timeout | undefined

  constructor(db: Pick<Database, 'commits' | 'now'>, bounds: Bounds<T> = small) {
    this.#db = db
    this.#bounds = bounds
  }

  get size() {
    return { entries: this.#kept.size, bytes: this.#bytes }
  }

  /** The cached value, if it is loaded. */
  peek(key: string): T | undefined {
    return this.#find(key)?.settled?.value
  }

  /** Concurrent callers share one load. */
  getOrLoad(key: string, load: () => Promise<T>): Promise<T> {
    const kept = this.#find(key)
    if (kept) return kept.value
    // Read before the load, because a commit during the load must expire the value.
    const { commits, now } = this.#db
    const begun: Remembered<T> = { value: load(), bytes: 0, commits, at: performance.now(), now: now.getTime() }
    this.#forget(key)
    this.#kept.set(key, begun)
    begun.value.then(
      (value) => this.#settle(key, begun, value),
      // A failure rejects for the callers that wait, and is not cached.
      () => this.#kept.get(key) === begun && this.#forget(key),
    )
    this.#forgetOldest()
    this.#sweep ??= setTimeout(() => this.#sweepStale(), span).unref()
    return begun.value
  }

  #find(key: string): Remembered<T> | undefined {
    const kept = this.#kept.get(key)
    if (!kept || kept.commits !== this.#db.commits || performance.now() - kept.at >= span) return undefined
    return Math.abs(this.#db.now.getTime() - kept.now) < span ? kept : undefined
  }

  #settle(key: string, begun: Remembered<T>, value: T) {
    begun.settled = { value }
    // It may have been removed during the load.
    if (this.#kept.get(key) !== begun) return
    // A character takes up to two bytes, the rest of an entry about 500.
    begun.bytes = this.#bounds.sizeOf(value) + 2 * key.length + 500
    this.#bytes += begun.bytes
    // One value must not displace all others.
    if (begun.bytes > this.#bounds.bytes / 8) this.#forget(key)
    this.#forgetOldest()
  }

  #forget(key: string) {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0
    this.#kept.delete(key)
  }

  /** Removes expired entries, and the oldest ones beyond the limits. */
  #forgetOldest() {
    const stale = performance.now() - span
    for (const [key, { at }] of this.#kept) {
      if (at > stale && this.#kept.size <= this.#bounds.entries && this.#bytes <= this.#bounds.bytes) return
      this.#forget(key)
    }
  }

  /** Expired values are removed even if no other value is requested. */
  #sweepStale() {
    this.#forgetOldest()
    this.#sweep = this.#kept.size ? setTimeout(() => this.#sweepStale(), span).unref() : undefined
  }
}
