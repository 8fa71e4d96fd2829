import { AsyncLocalStorage } from 'node:async_hooks'
import { Refusal } from '#platform/errors.ts'
import { networksOf } from '#platform/network.ts'

/** Who takes a slot: a user, or the networks of a caller without an account. */
export interface SlotCaller {
  user_id: number | null | undefined
  ip?: string | undefined
}

interface Share {
  key: string
  most: number
}

interface Waiter {
  shares: Share[]
  start(): void
}

/** Callers that may wait for each slot. More are refused at once. */
const waitersPerSlot = 8

/** Limits concurrent work, in total and per caller. Further callers wait in order of arrival, for `patience` milliseconds. */
export class Slots {
  readonly #most: number
  readonly #patience: number
  readonly #taken = new Map<string, number>()
  readonly #waiting = new Set<Waiter>()
  #total = 0

  constructor(most: number, patience: number) {
    this.#most = most
    this.#patience = patience
  }

  get taken() {
    return this.#total
  }

  /** Resolves when the caller may start. Dispose of the result when the work is done. */
  async take(caller: SlotCaller): Promise<Disposable> {
    const shares = this.#sharesOf(caller)
    if (!this.#hasRoom(shares)) await this.#wait(shares)
    else this.#count(shares, 1)
    let open = true
    return {
      [Symbol.dispose]: () => {
        if (open) this.#release(shares)
        open = false
      },
    }
  }

  /** One caller must not take all slots: it has a quarter of them, and the larger networks of an IPv6 address have half. */
  #sharesOf({ user_id, ip }: SlotCaller): Share[] {
    const part = (divisor: number) => Math.max(1, Math.floor(this.#most / divisor))
    if (typeof user_id === 'number') return [{ key: `user ${user_id}`, most: part(4) }]
    return networksOf(ip).map((network, step) => ({ key: `address ${network}`, most: part(step === 0 ? 4 : 2) }))
  }

  #hasRoom(shares: Share[]) {
    return this.#total < this.#most && shares.every(({ key, most }) => (this.#taken.get(key) ?? 0) < most)
  }

  #count(shares: Share[], change: 1 | -1) {
    this.#total += change
    for (const { key } of shares) {
      const taken = (this.#taken.get(key) ?? 0) + change
      if (taken) this.#taken.set(key, taken)
      else this.#taken.delete(key)
    }
  }

  #wait(shares: Share[]): Promise<void> {
    if (this.#waiting.size >= this.#most * waitersPerSlot) throw busy()
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(waiter)
        reject(busy())
      }, this.#patience)
      const waiter = {
        shares,
        start: () => {
          clearTimeout(timer)
          this.#waiting.delete(waiter)
          this.#count(shares, 1)
          resolve()
        },
      }
      this.#waiting.add(waiter)
    })
  }

  #release(shares: Share[]) {
    this.#count(shares, -1)
    for (const waiter of this.#waiting) {
      if (this.#total >= this.#most) return
      if (this.#hasRoom(waiter.shares)) waiter.start()
    }
  }
}

const busy = () => new Refusal('unavailable', 'The server is busy with other work on repositories. Try again in a few seconds.')

interface Holder {
  slots: Slots
  caller: SlotCaller
  /** The running git processes of this request, and their shared slot. */
  running: number
  slot: Promise<Disposable> | undefined
}

const requests = new AsyncLocalStorage<Holder>()

/** Serves a request so that its concurrent git processes share one slot. */
export function withSlotsOf<T>(slots: Slots, caller: SlotCaller, serve: () => T): T {
  return requests.run({ slots, caller, running: 0, slot: undefined }, serve)
}

/**
 * Waits for the slot of the current request before a git process starts. A request with a slot never waits for a second one, so requests
 * cannot deadlock. Jobs have no slot, because the queue limits them.
 */
export async function takeRequestSlot(): Promise<Disposable | undefined> {
  const holder = requests.getStore()
  if (!holder) return undefined
  holder.running++
  holder.slot ??= holder.slots.take(holder.caller)
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
