import { ByteCache } from '#platform/byte-cache.ts'
import { Refusal } from '#platform/errors.ts'

/** Keeps what was read from a commit, which never changes. Requests for the same key at the same time share one reading. */
export class CommitCache<T> {
  readonly #kept: ByteCache<{ value: T }>
  readonly #sizeOf: (value: T) => number
  readonly #running = new Map<string, Promise<T>>()

  constructor(most: number, sizeOf: (value: T) => number) {
    this.#kept = new ByteCache(most)
    this.#sizeOf = sizeOf
  }

  async get(key: string, read: () => Promise<T>): Promise<T> {
    const known = this.#kept.get(key)
    if (known) return known.value
    const running = this.#running.get(key)
    if (running) return running
    const started = read()
    this.#running.set(key, started)
    try {
      const value = await started
      this.#kept.set(key, { value }, this.#sizeOf(value) + 2 * key.length + 100)
      return value
    } finally {
      this.#running.delete(key)
    }
  }
}

/**
 * What was read, or undefined if that takes longer than `milliseconds` or is refused. The reading goes on, so that its cache has the value
 * for the next page.
 */
export async function ifSoon<T>(reading: Promise<T>, milliseconds: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, milliseconds)
  const found = reading.catch((error) => {
    if (error instanceof Refusal) return undefined
    throw error
  })
  try {
    return await Promise.race([found, late])
  } finally {
    clearTimeout(timer)
    // A failure after that concerns no one.
    found.catch(() => {})
  }
}
