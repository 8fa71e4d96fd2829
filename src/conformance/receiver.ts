import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Mismatch } from './answer.ts'

export interface Received {
  method: string
  headers: Record<string, string>
  body: string
}

/** How long a check waits for a delivery. */
export interface Patience {
  /** Milliseconds. */
  timeout: number
  signal: AbortSignal
}

/** `X-Service-Event`, or the same header with the name of another server. A check of its own is about the name. */
export const eventOf = (received: Received) => namedHeader(received, 'event')
export const guidOf = (received: Received) => namedHeader(received, 'delivery')

const namedHeader = ({ headers }: Received, rest: string) =>
  headers[`x-service-${rest}`] ?? Object.entries(headers).find(([name]) => new RegExp(`^x-\\w+-${rest}$`).test(name))?.[1] ?? ''

const most = { bytes: 4 << 20, deliveries: 100 }

/** An address at the receiver, and what came there. */
export class Inbox {
  readonly url: string
  readonly received: Received[] = []
  /** What the server gets as an answer. */
  status = 200
  readonly #waiting = new Set<() => void>()
  readonly #patience: Patience

  constructor(url: string, patience: Patience) {
    this.url = url
    this.#patience = patience
  }

  add(received: Received) {
    if (this.received.length < most.deliveries) this.received.push(received)
    for (const look of this.#waiting) look()
  }

  of = (event: string) => this.received.filter((received) => eventOf(received) === event)

  /** The first delivery that is as wanted. */
  async wait(what: string, wanted: (received: Received) => boolean): Promise<Received> {
    const { timeout, signal } = this.#patience
    const { promise, resolve, reject } = Promise.withResolvers<Received>()
    const look = () => {
      const found = this.received.find(wanted)
      if (found) resolve(found)
    }
    const got = () => `${this.received.map(eventOf).join(', ') || 'no delivery'} within ${timeout / 1000} s`
    const timer = setTimeout(() => reject(new Mismatch(`${what} at ${this.url}`, got())), timeout)
    const interrupt = () => reject(signal.reason)
    signal.addEventListener('abort', interrupt, { once: true })
    this.#waiting.add(look)
    look()
    return promise.finally(() => {
      clearTimeout(timer)
      signal.removeEventListener('abort', interrupt)
      this.#waiting.delete(look)
    })
  }
}

/** An HTTP server that webhooks of the checked server deliver to. */
export class Receiver {
  readonly #server: Server
  readonly #base: string
  readonly #inboxes = new Map<string, Inbox>()
  #count = 0

  /** `host` is where the server reaches us and where we listen; port 0 is a free one. */
  static async open(host: string, port: number): Promise<Receiver> {
    const server = createServer()
    server.listen(port, host)
    await once(server, 'listening')
    const name = host.includes(':') ? `[${host}]` : host
    return new Receiver(server, `http://${name}:${(server.address() as AddressInfo).port}`)
  }

  private constructor(server: Server, base: string) {
    this.#server = server
    this.#base = base
    server.on('request', async (request, response) => {
      const inbox = this.#inboxes.get(request.url ?? '')
      const body = await readBody(request).catch(() => undefined)
      response.statusCode = body === undefined ? 413 : (inbox?.status ?? 404)
      response.setHeader('content-type', 'text/plain')
      response.end('received')
      if (body !== undefined) inbox?.add({ method: request.method ?? '', headers: flat(request), body })
    })
  }

  get base() {
    return this.#base
  }

  inbox(run: string, patience: Patience): Inbox {
    const path = `/${run}/${++this.#count}`
    const inbox = new Inbox(`${this.#base}${path}`, patience)
    this.#inboxes.set(path, inbox)
    return inbox
  }

  async close() {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

const flat = (request: IncomingMessage) =>
  Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, [value].flat().join(', ')]))

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request) {
    size += part.length
    if (size > most.bytes) throw new Error('too large')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}
