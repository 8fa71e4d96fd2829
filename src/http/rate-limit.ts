import type { Clock } from '#platform/clock.ts'

export interface Allowance {
  limit: number
  used: number
  /** When the hour ends, in seconds since 1970. */
  reset: number
}

const hour = 3600
/** Hours that have ended are swept out when so many callers are on the books. */
const sweepAt = 10_000

/** Counts requests an hour for each caller, in this process: a node more is an allowance more. */
export class RateLimiter {
  readonly #hours = new Map<string, Allowance>()
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** What is left, without using any of it. */
  look(key: string, limit: number): Allowance {
    const now = Math.floor(this.#clock.now().getTime() / 1000)
    const running = this.#hours.get(key)
    return running && running.reset > now ? running : { limit, used: 0, reset: now + hour }
  }

  /** Uses one request, and says what is left; `used` past `limit` means no. */
  take(key: string, limit: number): Allowance {
    const allowance = this.look(key, limit)
    allowance.used++
    if (!this.#hours.has(key) && this.#hours.size >= sweepAt) this.#sweep()
    this.#hours.set(key, allowance)
    return allowance
  }

  #sweep() {
    const now = this.#clock.now().getTime() / 1000
    for (const [key, { reset }] of this.#hours) if (reset <= now) this.#hours.delete(key)
  }
}
