import type { Database } from './database.ts'

/** Another node's change is seen within this time even if its word does not reach us; this node's own at once. In milliseconds. */
const span = 800

interface Remembered<T> {
  value: Promise<T>
  /** The same once it is there, for callers who need not wait. */
  settled?: { value: T }
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

  /** What is kept and there, without waiting. */
  peek(key: string): T | undefined {
    return this.#find(key)?.settled?.value
  }

  /** Callers who ask at the same moment share one reading. */
  recall(key: string, load: () => Promise<T>): Promise<T> {
    const kept = this.#find(key)
    if (kept) return kept.value
    // Counted before it is read: a commit in between must not be taken for seen.
    const { commits, now } = this.#db
    const begun: Remembered<T> = { value: load(), commits, at: performance.now(), now: now.getTime() }
    this.#kept.delete(key)
    this.#kept.set(key, begun)
    begun.value.then(
      (value) => {
        begun.settled = { value }
      },
      () => this.#forget(key, begun),
    )
    if (this.#kept.size > this.#most) this.#forgetOldest()
    return begun.value
  }

  #find(key: string): Remembered<T> | undefined {
    const kept = this.#kept.get(key)
    if (!kept || kept.commits !== this.#db.commits || performance.now() - kept.at >= span) return undefined
    return Math.abs(this.#db.now.getTime() - kept.now) < span ? kept : undefined
  }

  /** A failure is told to whoever waited for it, and is not kept. */
  #forget(key: string, failed: Remembered<T>) {
    if (this.#kept.get(key) === failed) this.#kept.delete(key)
  }

  #forgetOldest() {
    for (const key of this.#kept.keys()) return void this.#kept.delete(key)
  }
}
