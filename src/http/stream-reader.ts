/** Something that happened. A client that comes back names the last id it was given: from there on it is told again. */
export interface News {
  id: string | null
  data: unknown
}

/** What a look found, and where the next one begins. */
export interface Step {
  news: News[]
  place: string | null
}

/** Looks from a place on; null is now. */
export type Look = (place: string | null) => Promise<Step>

/** What waits for a client that reads slowly, in characters. One look may find more, and is sent all the same. */
const mostWaiting = 2 * 1024 * 1024
/** A client that takes nothing for so long is gone. In milliseconds. */
const patience = 60_000

/** What one client has yet to be sent. */
export class StreamReader {
  readonly look: Look
  readonly #waiting: string[] = []
  #length = 0
  /** When it last took something, or began to have something to take. */
  #moved = 0
  #ended = false
  #wake: (() => void) | undefined

  constructor(look: Look) {
    this.look = look
  }

  get ended() {
    return this.#ended
  }

  /** A client that does not keep up is let go: it comes back and goes on after the last id that it read. */
  push(text: string) {
    if (this.#length > 0 && this.#length + text.length > mostWaiting) return this.end()
    if (!this.#waiting.length) this.#moved = performance.now()
    this.#waiting.push(text)
    this.#length += text.length
    this.#wake?.()
  }

  /** Says that we are there, where nothing else waits to be said. */
  beat() {
    if (!this.#waiting.length) this.push(': still here\n\n')
    else if (performance.now() - this.#moved > patience) this.end()
  }

  end() {
    this.#ended = true
    this.#wake?.()
  }

  clear() {
    this.#waiting.length = 0
    this.#length = 0
  }

  /** What comes, as the client takes it. */
  async *read() {
    while (!this.#ended) {
      const text = this.#waiting.shift()
      if (text === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        continue
      }
      this.#length -= text.length
      this.#moved = performance.now()
      yield text
    }
  }
}
