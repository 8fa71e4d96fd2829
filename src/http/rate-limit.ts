import type { Clock } from '#platform/clock.ts'

export interface Allowance {
  limit: number
  used: number
  /** The end of the hour, in seconds since 1970. */
  reset: number
}

const hour = 3600
/** The maximum number of callers, because a flood of addresses must not fill the memory. Beyond it, the oldest hour is dropped. */
const most = 100_000

/** Counts requests per hour and caller in this process. See shared-rate-limits.ts for those of other nodes. */
export class RateLimiter {
  /** Ordered by the start of the hour. */
  readonly #hours = new Map<string, Allowance>()
  /** Requests that other nodes do not know of, by caller. */
  #unshared = new Map<string, number>()
  readonly #clock: Clock
  /** Whether requests are kept for `takeUnshared`. */
  is_shared = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The allowance, without using a request. */
  look(key: string, limit: number): Allowance {
    const now = this.#seconds()
    const running = this.#hours.get(key)
    return running && running.reset > now ? running : { limit, used: 0, reset: now + hour }
  }

  /** Uses one request. If `used` exceeds `limit`, it must be refused. */
  take(key: string, limit: number): Allowance {
    const allowance = this.look(key, limit)
    if (allowance.used === 0) this.#begin(key, allowance)
    allowance.used++
    // While the database is away, nothing is shared.
    if (this.is_shared && this.#unshared.size < most) this.#unshared.set(key, (this.#unshared.get(key) ?? 0) + 1)
    return allowance
  }

  /** The requests since the last call, with the end of their hour. */
  takeUnshared(): { key: string; used: number; reset: number }[] {
    const unshared = [...this.#unshared].flatMap(([key, used]) => {
      const { reset } = this.#hours.get(key) ?? {}
      return reset === undefined ? [] : { key, used, reset }
    })
    this.#unshared = new Map()
    return unshared
  }

  /** Counts what all nodes have counted, and what they do not know of yet. */
  adopt(key: string, used: number, reset: number) {
    const allowance = this.#hours.get(key)
    if (allowance) Object.assign(allowance, { used: used + (this.#unshared.get(key) ?? 0), reset })
  }

  #begin(key: string, allowance: Allowance) {
    this.#hours.delete(key)
    this.#hours.set(key, allowance)
    const now = this.#seconds()
    for (const [oldest, { reset }] of this.#hours) {
      if (reset > now && this.#hours.size <= most) break
      this.#hours.delete(oldest)
    }
  }

  #seconds() {
    return Math.floor(this.#clock.now().getTime() / 1000)
  }
}
