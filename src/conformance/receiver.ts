import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Mismatch } from './answer.ts'

export interface Received {
  method: string
  headers: Record<string, string>
  body: string
}

const most = { bytes: 4 << 20, deliveries: 100 }

/** An address at the receiver, and what came there. */
export class Inbox {
  readonly url: string
  readonly received: Received[] = []
  /** What the server gets as an answer. */
  status = 200
  readonly #waiting = new Set<() => void>()

  constructor(url: string) {
    this.url = url
  }

  add(received: Received) {
    if (this.received.length < most.deliveries) this.received.push(received)
    for (const look of this.#waiting) look()
  }

  of = (event: string) =>
    this.received.filter(({ headers }) => headers['x-service-event'] === event || headers['x-github-event'] === event)

  /** The first delivery that is as wanted. */
  async wait(what: string, wanted: (received: Received) => boolean, patience = 15_000): Promise<Received> {
    const { promise, resolve, reject } = Promise.withResolvers<Received>()
    const look = () => {
      const found = this.received.find(wanted)
      if (found) resolve(found)
    }
    const timer = setTimeout(
      () => reject(new Mismatch(`${what} at ${this.url}`, `${this.received.length} others within ${patience / 1000} s`)),
      patience,
    )
    this.#waiting.add(look)
    look()
    return promise.finally(() => {
      clearTimeout(timer)
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

  inbox(run: string): Inbox {
    const path = `/${run}/${++this.#count}`
    const inbox = new Inbox(`${this.#base}${path}`)
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
