import type { Server } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { Refusal } from '#platform/errors.ts'
import { networkLimits } from '#platform/network.ts'
import { formatAll, Hubs } from './stream-hub.ts'
import { type Look, type Step, StreamReader } from './stream-reader.ts'

export type { Step } from './stream-reader.ts'

/** A connection is not kept after a stream: one that ends while the server stops would be waited for. */
export const streamHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  Connection: 'close',
}

const closings = new WeakMap<Server, AbortController>()

/** Ends the streams of a listener: when it closes, or before, see endStreams. Ask for it before the listener is bound. */
export function closingOf(listener: FastifyInstance): AbortSignal {
  const known = closings.get(listener.server)
  if (known) return known.signal
  const closing = new AbortController()
  closings.set(listener.server, closing)
  listener.addHook('preClose', async () => closing.abort())
  return closing.signal
}

/** A shutdown begins with this: a stream with a steady flow of events looks like a request in flight, and the shutdown would wait for it. */
export function endStreams({ server }: FastifyInstance) {
  closings.get(server)?.abort()
}

/** The streams of one process, on all of its listeners. */
class Streams {
  readonly limits = new StreamLimits()
  readonly hubs: Hubs
  readonly open = new Set<StreamReader>()

  constructor(belfry: Belfry) {
    this.hubs = new Hubs(belfry)
  }
}

const opened = new WeakMap<Belfry, Streams>()

function streamsOf(belfry: Belfry): Streams {
  const streams = opened.get(belfry) ?? new Streams(belfry)
  opened.set(belfry, streams)
  return streams
}

/** Ends the streams that are open now. Unlike after endStreams, others may begin. */
export function endOpenStreams(belfry: Belfry) {
  for (const reader of streamsOf(belfry).open) reader.end()
}

export interface Following extends Follower {
  /** Streams of the same key find the same: it names the caller, and what is followed. */
  key: string
  /** The last id that the client got; null to begin with the next event. */
  last: string | null
  /** Called again and again: refuses a caller who may not look any more. */
  look: Look
  /** The least time between two looks, in milliseconds. */
  pause?: number
  /** Ends when the listener closes. */
  closing: AbortSignal
}

/**
 * Server-sent events: what `look` finds, as soon as something is committed. Refuses when too many are open, or when the first look refuses. Ends when
 * the client disconnects or does not keep up, the listener closes, or a look refuses the caller.
 */
export async function openStream(belfry: Belfry, following: Following): Promise<Readable> {
  const streams = streamsOf(belfry)
  const release = streams.limits.reserve(following)
  try {
    const first = await following.look(following.last)
    return streamEvents(streams, following, first, release)
  } catch (error) {
    release()
    throw error
  }
}

function streamEvents({ hubs, open }: Streams, following: Following, first: Step, release: () => void): Readable {
  const { look, closing } = following
  const reader = new StreamReader(look)
  open.add(reader)
  const end = () => reader.end()
  closing.addEventListener('abort', end)
  if (closing.aborted) end()

  async function* write() {
    yield `retry: 1000\n\n${formatAll(first.news)}`
    try {
      yield* join(hubs, following, reader, first.bookmark)
      yield* reader.read()
    } catch (error) {
      hubs.noteFailure(error, [reader])
    } finally {
      hubs.get(following.key)?.detach(reader)
    }
  }

  const stream = Readable.from(write(), { objectMode: false })
  // Otherwise a stream whose client disconnects would stay open until the next event.
  const destroy = stream._destroy.bind(stream)
  stream._destroy = (error, done) => {
    end()
    destroy(error, done)
  }
  stream.once('close', () => {
    closing.removeEventListener('abort', end)
    open.delete(reader)
    hubs.get(following.key)?.detach(reader)
    release()
  })
  return stream
}

/**
 * Joins the hub of this key. Between `bookmark` and the hub's bookmark, no event may be lost or sent twice. So the hub looks, the reader is attached,
 * and looks once more for itself. When that finds nothing, the reader and the hub have sent the same events.
 */
async function* join(hubs: Hubs, { key, look, pause = 0 }: Following, reader: StreamReader, bookmark: string | null) {
  for (let from = bookmark; !reader.ended; ) {
    const hub = hubs.get(key)
    if (!hub || hub.bookmark === from) return (hub ?? hubs.open(key, from, pause)).attach(reader)
    await hub.advance()
    if (hubs.get(key) !== hub) continue
    hub.attach(reader)
    const { news, bookmark: next } = await hubs.look(look, from)
    if (!news.length) return
    hub.detach(reader)
    reader.clear()
    yield formatAll(news)
    from = next
  }
}

/**
 * The maximum number of open streams. A stream takes a connection and about 50 KB. A browser has one for each open inbox page, a program one
 * for each timeline that it follows. Many users may share an address behind a router or an untrusted proxy. See network.ts for IPv6.
 */
export const mostStreams = { user: 50, address: 200, server: 10_000 }

/** The client of a stream. */
interface Follower {
  user_id: number | null
  ip: string
}

/** Counts the open streams of one process. */
export class StreamLimits {
  readonly #open = new Map<string, number>()

  /** Call this before reading anything. The returned function ends the reservation; further calls do nothing. */
  reserve({ user_id, ip }: Follower): () => void {
    const taken = limitsOf(user_id, ip)
    for (const { key, most, refuse } of taken) if ((this.#open.get(key) ?? 0) >= most) throw refuse(most)
    for (const { key } of taken) this.#open.set(key, (this.#open.get(key) ?? 0) + 1)
    let given = false
    return () => {
      if (given) return
      given = true
      for (const { key } of taken) {
        const left = (this.#open.get(key) ?? 0) - 1
        if (left > 0) this.#open.set(key, left)
        else this.#open.delete(key)
      }
    }
  }
}

function limitsOf(user_id: number | null, ip: string) {
  return [
    ...(user_id === null ? [] : [{ key: `user ${user_id}`, most: mostStreams.user, refuse: tooMany('a user') }]),
    ...networkLimits(ip, mostStreams.address, 'open').map(({ network, most }, step) => ({
      ...{ key: `address ${network}`, most },
      refuse: tooMany(step === 0 ? 'an address' : `the network ${network}`),
    })),
    { key: 'server', most: mostStreams.server, refuse: full },
  ]
}

const tooMany = (whose: string) => (most: number) =>
  new Refusal('too_many_streams', `Too many open streams: ${whose} may have ${most}. Close one of them, then try again.`)

const full = () => new Refusal('unavailable', 'Too many streams are open on this server. Please try again in a minute.')
