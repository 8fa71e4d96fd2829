import type { Database } from './database.ts'

/** Another node's change is seen within this time even if its word does not reach us; this node's own at once. In milliseconds. */
const span = 800

interface Remembered<T> {
  value: Promise<T>
  /** The same once it is there, for callers who need not wait. */
  settled?: { value: T }
  /** Its estimated size, once it is loaded. */
  bytes: number
  commits: number
  /** By the clock that cannot jump, and by the one that rules are told: neither may have moved far. */
  at: number
  now: number
}

/** How much is kept at most. */
export interface Bounds<T> {
  entries: number
  bytes: number
  /** An estimate of what a value takes, in bytes. */
  sizeOf(value: T): number
}

/** For values of a few hundred bytes: by their number alone. */
const small: Bounds<unknown> = { entries: 5000, bytes: Infinity, sizeOf: () => 0 }

/** Keeps what was just read, for the requests of the next moment: clients call many times in a row. Any commit ends it. */
export class ReadCache<T> {
  readonly #db: Pick<Database, 'commits' | 'now'>
  readonly #bounds: Bounds<T>
  /** In the order in which they were read. */
  readonly #kept = new Map<string, Remembered<T>>()
  #bytes = 0
  #sweep: NodeJS.Timeout | undefined

  constructor(db: Pick<Database, 'commits' | 'now'>, bounds: Bounds<T> = small) {
    this.#db = db
    this.#bounds = bounds
  }

  /** How much is kept now. */
  get size() {
    return { entries: this.#kept.size, bytes: this.#bytes }
  }

  /** What is kept and there, without waiting. */
  peek(key: string): T | undefined {
    return this.#find(key)?.settled?.value
  }

  /** Callers who ask at the same moment share one reading. */
  getOrLoad(key: string, load: () => Promise<T>): Promise<T> {
    const kept = this.#find(key)
    if (kept) return kept.value
    // Counted before it is read: a commit in between must not be taken for seen.
    const { commits, now } = this.#db
    const begun: Remembered<T> = { value: load(), bytes: 0, commits, at: performance.now(), now: now.getTime() }
    this.#forget(key)
    this.#kept.set(key, begun)
    begun.value.then(
      (value) => this.#settle(key, begun, value),
      // A failure rejects for the callers that wait for it, and is not kept.
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
    // It may have been dropped while it was read.
    if (this.#kept.get(key) !== begun) return
    // An estimate: a character takes up to two bytes, the rest of an entry about 500.
    begun.bytes = this.#bounds.sizeOf(value) + 2 * key.length + 500
    this.#bytes += begun.bytes
    // One value must not drive out all others.
    if (begun.bytes > this.#bounds.bytes / 8) this.#forget(key)
    this.#forgetOldest()
  }

  #forget(key: string) {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0
    this.#kept.delete(key)
  }

  /** Forgets entries that are too old, and the oldest ones beyond the bounds. */
  #forgetOldest() {
    const stale = performance.now() - span
    for (const [key, { at }] of this.#kept) {
      if (at > stale && this.#kept.size <= this.#bounds.entries && this.#bytes <= this.#bounds.bytes) return
      this.#forget(key)
    }
  }

  /** Values that are no longer requested must not stay until the next request for another one. */
  #sweepStale() {
    this.#forgetOldest()
    this.#sweep = this.#kept.size ? setTimeout(() => this.#sweepStale(), span).unref() : undefined
  }
}
