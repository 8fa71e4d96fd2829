import type { Generation } from './generation.ts'

/** One is taken by a reset, and the others by those that come before there was a pause. Each takes 12 MB. */
const most = 3
/**
 * A spare is made after so many milliseconds without a request, because making one takes 0.1 s in which the process serves nothing. Streams stay
 * open, so after a longer time open requests do not count. After the start, the first test needs its answers first.
 */
const pauses = { usual: 25, served: 400, first: 200 }

/** Copies of the seeded state that wait for a reset. */
export class Spares {
  readonly #prepare: () => Promise<Generation>
  /** Ready, or being made. */
  #spares: Promise<Generation>[] = []
  #timer: NodeJS.Timeout | undefined
  #pause = pauses.first
  #closed = false

  constructor(prepare: () => Promise<Generation>) {
    this.#prepare = prepare
  }

  /** Makes what is missing, one after the other, each at the next pause. */
  refill() {
    if (this.#closed || this.#timer || this.#spares.length >= most) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      const spare = this.#prepare()
      this.#spares.push(spare)
      spare.then(
        () => this.refill(),
        // The next reset makes one itself, and reports the error.
        () => {
          this.#spares = this.#spares.filter((other) => other !== spare)
        },
      )
    }, this.#pause)
  }

  /** Called when a request begins and when one ends, with the number of those that are open. */
  postpone(open: number) {
    this.#pause = open ? pauses.served : pauses.usual
    if (!this.#timer) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.refill()
  }

  take(): Promise<Generation> {
    return this.#spares.shift() ?? this.#prepare()
  }

  /** Returns those that are left. */
  async close(): Promise<Generation[]> {
    this.#closed = true
    clearTimeout(this.#timer)
    const settled = await Promise.allSettled(this.#spares)
    return settled.flatMap((spare) => (spare.status === 'fulfilled' ? [spare.value] : []))
  }
}
