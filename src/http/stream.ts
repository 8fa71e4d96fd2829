import { Readable } from 'node:stream'
import type { Belfry } from '#belfry.ts'
import { Refusal } from '#platform/errors.ts'
import { DatabaseUnavailable } from '#platform/unavailable.ts'

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

/** A connection is not kept after a stream: one that ends while the server stops would be waited for. */
export const streamHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  Connection: 'close',
}

/** After a commit we look at once, and again a few times: what was committed shows when all that began before it has ended. */
const looks = [0, 30, 100, 400, 1500]
/** With nothing committed, we look all the same, for what time alone brings; and say that we are there. In milliseconds. */
const quiet = 10_000

/**
 * Server-sent events: what `look` finds, from `first` on, as soon as something is committed. Ends when the client goes, the listener closes,
 * or the caller is refused.
 */
export function streamNews(
  { db, log }: Belfry,
  closing: AbortSignal,
  first: Step,
  look: (place: Step['place']) => Promise<Step>,
) {
  const gone = new AbortController()
  const ended = AbortSignal.any([closing, gone.signal])
  const bell = new Bell(ended)
  const off = db.onEnd(() => bell.ring())

  async function* write() {
    let { news, place } = first
    yield `retry: 1000\n\n${news.map(format).join('')}`
    for (let round = 0; !ended.aborted; round++) {
      const rung = await bell.wait(looks[round] ?? quiet)
      if (ended.aborted) return
      if (rung) round = -1
      const found = await look(place).catch(whileAway)
      if (!found) {
        // A stream outlives an outage: it looks again soon, and at once when the database is back.
        round = Math.min(round, 2)
        yield ': waiting for the database\n\n'
        continue
      }
      ;({ news, place } = found)
      if (news.length) {
        yield news.map(format).join('')
        // Where there was something, there may be more than is told at once.
        round = -1
      }
      if (round >= looks.length) yield ': still here\n\n'
    }
  }

  const stream = Readable.from(
    (async function* () {
      try {
        yield* write()
      } catch (error) {
        // Whoever lost the right to look is told by the end of the stream; coming back, they learn why.
        if (!(error instanceof Refusal)) log.error({ err: error }, 'a stream of news broke off')
      } finally {
        off()
      }
    })(),
    { objectMode: false },
  )
  stream.once('close', () => gone.abort())
  return stream
}

function whileAway(error: unknown): undefined {
  if (!(error instanceof DatabaseUnavailable)) throw error
}

function format({ id, data }: News) {
  return `${id === null ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
}

/** Wakes one who waits; a ring while nobody does is kept for the next. */
class Bell {
  #rung = false
  #wake: (() => void) | undefined

  constructor(ended: AbortSignal) {
    ended.addEventListener('abort', () => this.#wake?.())
  }

  ring() {
    this.#rung = true
    this.#wake?.()
  }

  /** True when it was rung, false when the time was over first. */
  async wait(milliseconds: number): Promise<boolean> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    const rung = this.#rung
    this.#rung = false
    return rung
  }
}
