import type { Clock } from '#platform/clock.ts'

export interface Allowance {
  limit: number
  used: number
  /** When the hour ends, in seconds since 1970. */
  reset: number
}

const hour = 3600
/** Callers on the books at most, so that a flood of addresses fills no memory: beyond, the oldest hour is forgotten. */
const most = 100_000

/** Counts requests an hour for each caller, in this process: a node more is an allowance more. */
export class RateLimiter {
  /** In the order in which the hours began, and so will end. */
  readonly #hours = new Map<string, Allowance>()
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** What is left, without using any of it. */
  look(key: string, limit: number): Allowance {
    const now = this.#seconds()
    const running = this.#hours.get(key)
    return running && running.reset > now ? running : { limit, used: 0, reset: now + hour }
  }

  /** Uses one request, and says what is left; `used` past `limit` means no. */
  take(key: string, limit: number): Allowance {
    const allowance = this.look(key, limit)
    if (allowance.used === 0) this.#begin(key, allowance)
    allowance.used++
    return allowance
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
