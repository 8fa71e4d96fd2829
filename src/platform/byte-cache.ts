/** Keeps the most recently used values, up to a number of bytes. The caller estimates the size of each value. */
export class ByteCache<T> {
  readonly #most: number
  /** Least recently used first. */
  readonly #kept = new Map<string, { value: T; bytes: number }>()
  #bytes = 0

  constructor(most: number) {
    this.#most = most
  }

  get bytes() {
    return this.#bytes
  }

  get(key: string): T | undefined {
    const kept = this.#kept.get(key)
    if (!kept) return undefined
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    return kept.value
  }

  set(key: string, value: T, bytes: number) {
    this.remove(key)
    this.#kept.set(key, { value, bytes })
    this.#bytes += bytes
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#most) return
      this.remove(oldest)
    }
  }

  /** Removes the least recently used values as long as the condition holds, and returns their keys. */
  removeWhile(condition: (value: T) => boolean): string[] {
    const removed: string[] = []
    for (const [key, { value }] of this.#kept) {
      if (!condition(value)) break
      this.remove(key)
      removed.push(key)
    }
    return removed
  }

  clear() {
    this.#kept.clear()
    this.#bytes = 0
  }

  remove(key: string) {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0
    this.#kept.delete(key)
  }
}
