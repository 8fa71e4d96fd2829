import type { Topic } from '#platform/topics.ts'

/** An event of a stream. A client that reconnects sends the last id that it got, and the stream continues after it. */
export interface News {
  id: string | null
  data: unknown
}

/** What a look found, and where the next one begins. */
export interface Step {
  news: News[]
  bookmark: string | null
  /** What the look depends on, if it is known: until one of them changes, another look finds nothing. */
  topics?: readonly Topic[] | undefined
}

/** Returns what happened after a bookmark; null means from now on. */
export type Look = (bookmark: string | null) => Promise<Step>

/** How much may wait for a client that reads slowly, in characters. If one look alone finds more, that is sent anyway. */
const mostWaiting = 2 * 1024 * 1024
/** A client that reads nothing for this long is disconnected. In milliseconds. */
const patience = 60_000

/** The queue of text to send to one client. */
export class StreamReader {
  readonly look: Look
  readonly #waiting: string[] = []
  #length = 0
  /** When the client last read something, or when the queue last became non-empty. */
  #moved = 0
  #ended = false
  #wake: (() => void) | undefined

  constructor(look: Look) {
    this.look = look
  }

  get ended() {
    return this.#ended
  }

  /** A client that does not keep up is disconnected: it reconnects and continues after the last id that it read. */
  push(text: string) {
    if (this.#length > 0 && this.#length + text.length > mostWaiting) return this.end()
    if (!this.#waiting.length) this.#moved = performance.now()
    this.#waiting.push(text)
    this.#length += text.length
    this.#wake?.()
  }

  /** Sends a heartbeat if nothing else waits to be sent. */
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
