import type { Clock } from '#platform/clock.ts'

export interface Allowance {
  limit: number
  used: number
  /** The end of the hour, in seconds since 1970. */
  reset: number
}

/** A count that a request is part of. */
export interface Budget {
  key: string
  limit: number
}

export const leftOf = ({ limit, used }: Allowance) => Math.max(0, limit - used)

const hour = 3600
/** The maximum number of callers, because a flood of addresses must not fill the memory. Beyond it, the oldest hour is dropped. */
const most = 100_000

/** Counts requests per hour and caller in this process. See shared-rate-limits.ts for those of other nodes. */
export class RateLimiter {
  /** Ordered by the start of the hour. */
  readonly #hours = new Map<string, Allowance>()
  /** Requests that other nodes do not know of, by caller. Negative when more were given back than used since the last exchange. */
  #unshared = new Map<string, number>()
  readonly #clock: Clock
  /** Whether requests are kept for `takeUnshared`. */
  is_shared = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The allowance with the fewest requests left, without using one. */
  look(budgets: readonly Budget[]): Allowance {
    return budgets.map((budget) => this.#find(budget)).reduce((one, other) => (leftOf(other) < leftOf(one) ? other : one))
  }

  /** Uses one request of each, unless one of them has none left: one host must not use up the limit of its provider. */
  take(budgets: readonly Budget[]): boolean {
    if (leftOf(this.look(budgets)) === 0) return false
    for (const budget of budgets) this.#count(budget)
    return true
  }

  /** Gives back what a request has taken. */
  refund(budgets: readonly Budget[]) {
    for (const { key } of budgets) {
      const allowance = this.#hours.get(key)
      if (!allowance || allowance.used === 0) continue
      allowance.used--
      this.#share(key, -1)
    }
  }

  #find({ key, limit }: Budget): Allowance {
    const now = this.#seconds()
    const running = this.#hours.get(key)
    return running && running.reset > now ? running : { limit, used: 0, reset: now + hour }
  }

  #count(budget: Budget) {
    const allowance = this.#find(budget)
    if (allowance.used === 0) this.#begin(budget.key, allowance)
    allowance.used++
    this.#share(budget.key, 1)
  }

  /** While the database is away, nothing is shared. */
  #share(key: string, change: 1 | -1) {
    if (this.is_shared && (this.#unshared.has(key) || this.#unshared.size < most)) {
      this.#unshared.set(key, (this.#unshared.get(key) ?? 0) + change)
    }
  }

  /** The requests since the last call, with the end of their hour. */
  takeUnshared(): { key: string; used: number; reset: number }[] {
    const unshared = [...this.#unshared].flatMap(([key, used]) => {
      const { reset } = this.#hours.get(key) ?? {}
      return reset === undefined || used === 0 ? [] : { key, used, reset }
    })
    this.#unshared = new Map()
    return unshared
  }

  clear() {
    this.#hours.clear()
    this.#unshared.clear()
  }

  /** Counts what all nodes have counted, and what they do not know of yet. */
  adopt(key: string, used: number, reset: number) {
    const allowance = this.#hours.get(key)
    if (allowance) Object.assign(allowance, { used: Math.max(used + (this.#unshared.get(key) ?? 0), 0), reset })
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
