import type { Clock } from '#platform/clock.ts'
import type { ClockState } from '../protocol.ts'

/** The time of a world: that of the system, moved by the test, or one that stands still. */
export class WorldClock implements Clock {
  readonly #first: number | undefined
  /** Where it stands still. */
  #fixed: number | undefined
  #ahead = 0

  constructor(first: Date | undefined) {
    this.#first = first?.getTime()
    this.reset()
  }

  now() {
    return new Date(this.#fixed ?? Date.now() + this.#ahead)
  }

  set(at: Date) {
    this.#fixed = at.getTime()
  }

  advance(milliseconds: number) {
    if (this.#fixed === undefined) this.#ahead += milliseconds
    else this.#fixed += milliseconds
  }

  /** Whether the time is another one than without the test. */
  get moved() {
    return this.#fixed !== this.#first || this.#ahead !== 0
  }

  reset() {
    this.#fixed = this.#first
    this.#ahead = 0
  }

  state(): ClockState {
    return { now: this.now().toISOString(), running: this.#fixed === undefined }
  }
}
