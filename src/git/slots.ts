import { AsyncLocalStorage } from 'node:async_hooks'
import { Refusal } from '#platform/errors.ts'

interface Waiter {
  key: string
  start(): void
}

/** Callers that may wait for each slot. More are refused at once. */
const waitersPerSlot = 8

/** Limits concurrent work, in total and per caller. Further callers wait in order of arrival, for `patience` milliseconds. */
export class Slots {
  readonly #most: number
  readonly #mostEach: number
  readonly #patience: number
  readonly #taken = new Map<string, number>()
  readonly #waiting = new Set<Waiter>()
  #total = 0

  constructor(most: number, patience: number) {
    this.#most = most
    // One caller must not take all slots.
    this.#mostEach = Math.max(1, Math.floor(most / 4))
    this.#patience = patience
  }

  get taken() {
    return this.#total
  }

  /** Resolves when the caller may start. Dispose of the result when the work is done. */
  async take(key: string): Promise<Disposable> {
    if (!this.#hasRoom(key)) await this.#wait(key)
    else this.#count(key, 1)
    let open = true
    return {
      [Symbol.dispose]: () => {
        if (open) this.#release(key)
        open = false
      },
    }
  }

  #hasRoom(key: string) {
    return this.#total < this.#most && (this.#taken.get(key) ?? 0) < this.#mostEach
  }

  #count(key: string, change: 1 | -1) {
    this.#total += change
    const taken = (this.#taken.get(key) ?? 0) + change
    if (taken) this.#taken.set(key, taken)
    else this.#taken.delete(key)
  }

  #wait(key: string): Promise<void> {
    if (this.#waiting.size >= this.#most * waitersPerSlot) throw busy()
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(waiter)
        reject(busy())
      }, this.#patience)
      const waiter = {
        key,
        start: () => {
          clearTimeout(timer)
          this.#waiting.delete(waiter)
          this.#count(key, 1)
          resolve()
        },
      }
      this.#waiting.add(waiter)
    })
  }

  #release(key: string) {
    this.#count(key, -1)
    for (const waiter of this.#waiting) {
      if (this.#total >= this.#most) return
      if (this.#hasRoom(waiter.key)) waiter.start()
    }
  }
}

const busy = () => new Refusal('unavailable', 'The server is busy with other work on repositories. Try again in a few seconds.')

interface Holder {
  slots: Slots
  key: string
  /** The running git processes of this request, and their shared slot. */
  running: number
  slot: Promise<Disposable> | undefined
}

const requests = new AsyncLocalStorage<Holder>()

/** Serves a request so that its concurrent git processes share one slot. */
export function withSlotsOf<T>(slots: Slots, key: string, serve: () => T): T {
  return requests.run({ slots, key, running: 0, slot: undefined }, serve)
}

/**
 * Waits for the slot of the current request before a git process starts. A request with a slot never waits for a second one, so requests
 * cannot deadlock. Jobs have no slot, because the queue limits them.
 */
export async function takeRequestSlot(): Promise<Disposable | undefined> {
  const holder = requests.getStore()
  if (!holder) return undefined
  holder.running++
  holder.slot ??= holder.slots.take(holder.key)
  const { slot } = holder
  const end = () => {
    if (--holder.running > 0) return
    holder.slot = undefined
    slot.then((taken) => taken[Symbol.dispose]()).catch(() => {})
  }
  try {
    await slot
  } catch (error) {
    end()
    throw error
  }
  return { [Symbol.dispose]: end }
}
