import type { Database } from './database.ts'

/** Another node's change is seen within this time; this node's own at once. In milliseconds. */
const span = 800
const most = 5000

interface Remembered<T> {
  value: T
  commits: number
  at: number
}

/** Keeps what was just read, for the requests of the next moment: clients call many times in a row. Any commit of this process ends it. */
export class Memory<T> {
  readonly #db: Database
  readonly #kept = new Map<string, Remembered<T>>()

  constructor(db: Database) {
    this.#db = db
  }

  async recall(key: string, load: () => Promise<T>): Promise<T> {
    const kept = this.#kept.get(key)
    const at = performance.now()
    // Counted before it is read: a commit in between must not be taken for seen.
    const { commits } = this.#db
    if (kept && kept.commits === commits && at - kept.at < span) return kept.value
    const value = await load()
    if (this.#kept.size >= most) this.#kept.clear()
    this.#kept.set(key, { value, commits, at })
    return value
  }
}
