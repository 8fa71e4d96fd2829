import type { Database } from './database.ts'

/** Another node's change is seen within this time even if its word does not reach us; this node's own at once. In milliseconds. */
const span = 800

interface Remembered<T> {
  value: Promise<T>
  commits: number
  /** By the clock that cannot jump, and by the one that rules are told: neither may have moved far. */
  at: number
  now: number
}

/** Keeps what was just read, for the requests of the next moment: clients call many times in a row. Any commit ends it. */
export class Memory<T> {
  readonly #db: Database
  readonly #most: number
  readonly #kept = new Map<string, Remembered<T>>()

  constructor(db: Database, most = 5000) {
    this.#db = db
    this.#most = most
  }

  /** Callers who ask at the same moment share one reading. */
  recall(key: string, load: () => Promise<T>): Promise<T> {
    const at = performance.now()
    const now = this.#db.now.getTime()
    // Counted before it is read: a commit in between must not be taken for seen.
    const { commits } = this.#db
    const kept = this.#kept.get(key)
    if (kept && kept.commits === commits && at - kept.at < span && Math.abs(now - kept.now) < span) return kept.value
    const value = load()
    this.#kept.delete(key)
    this.#kept.set(key, { value, commits, at, now })
    value.catch(() => this.#forget(key, value))
    if (this.#kept.size > this.#most) this.#forgetOldest()
    return value
  }

  /** A failure is told to whoever waited for it, and is not kept. */
  #forget(key: string, value: Promise<T>) {
    if (this.#kept.get(key)?.value === value) this.#kept.delete(key)
  }

  #forgetOldest() {
    for (const key of this.#kept.keys()) return void this.#kept.delete(key)
  }
}
