import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

/**
 * `pass` forwards bytes. `refuse` closes the port. `stall` accepts connections and forwards nothing until it passes again. `drop` swallows bytes:
 * connections that were open, or are opened meanwhile, stay open and never carry a byte again.
 */
export type ProxyMode = 'pass' | 'refuse' | 'stall' | 'drop'

interface Pair {
  client: Socket
  server: Socket
}

/** A TCP port in front of a PostgreSQL, over which a test has the say. */
export class DatabaseProxy implements AsyncDisposable {
  /** A unix socket, or a port of this machine. New connections are forwarded to it. */
  target: string | number
  readonly #pairs = new Set<Pair>()
  #listener: Server | undefined
  #mode: ProxyMode = 'pass'
  /** Milliseconds that each piece of data waits, in both directions. */
  latency = 0
  port = 0
  /** The first statement that has this text is passed on, and the connection reset in place of its answer. */
  cut_at: string | undefined

  /** Without a target, in front of the PostgreSQL of this test run. */
  static async open(target: string | number = socketOfTestRun()) {
    const proxy = new DatabaseProxy(target)
    await proxy.#listen()
    return proxy
  }

  constructor(target: string | number) {
    this.target = target
  }

  /** The same database by way of this proxy. */
  url(direct: string) {
    return direct.replace(/@[^/]+\//, `@127.0.0.1:${this.port}/`)
  }

  get connections() {
    return this.#pairs.size
  }

  async set(mode: ProxyMode) {
    this.#mode = mode
    if (mode === 'drop') for (const pair of this.#pairs) swallow(pair)
    if (mode === 'stall') for (const { client, server } of this.#pairs) for (const side of [client, server]) side.pause()
    if (mode === 'pass') for (const { client, server } of this.#pairs) for (const side of [client, server]) side.resume()
    if (mode === 'refuse') {
      this.#listener?.close()
      this.#listener = undefined
      this.reset()
    } else if (!this.#listener) await this.#listen()
  }

  /** Ends all connections at once, on both sides. */
  reset() {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy()
      server.destroy()
    }
  }

  async #listen() {
    const listener = createServer((client) => this.#join(client))
    this.#listener = listener
    listener.listen(this.port, '127.0.0.1')
    await once(listener, 'listening')
    this.port = (listener.address() as AddressInfo).port
  }

  #join(client: Socket) {
    const server = typeof this.target === 'string' ? createConnection(this.target) : createConnection(this.target, '127.0.0.1')
    const toServer = this.#sender(server)
    const toClient = this.#sender(client)
    const pair = { client, server }
    this.#pairs.add(pair)
    client.on('data', (chunk) => {
      toServer(chunk)
      if (this.cut_at === undefined || !chunk.includes(this.cut_at)) return
      this.cut_at = undefined
      server.removeAllListeners('data').once('data', () => client.resetAndDestroy())
    })
    server.on('data', toClient)
    for (const [side, other] of [
      [client, server],
      [server, client],
    ] as const) {
      side.on('error', () => {})
      side.once('close', () => {
        if (!swallowed.has(pair)) other.destroy()
        if (client.destroyed && server.destroyed) this.#pairs.delete(pair)
      })
    }
    if (this.#mode === 'drop') swallow(pair)
    if (this.#mode === 'stall') for (const side of [client, server]) side.pause()
  }

  /** Keeps the order of the pieces, also when the latency changes. */
  #sender(side: Socket) {
    let waiting = 0
    let last: Promise<unknown> = Promise.resolve()
    return (chunk: string | Buffer) => {
      if (this.latency === 0 && waiting === 0) return void side.write(chunk)
      waiting++
      last = last
        .then(() => sleep(this.latency))
        .then(() => {
          waiting--
          if (!side.destroyed) side.write(chunk)
        })
    }
  }

  async [Symbol.asyncDispose]() {
    this.#listener?.close()
    this.reset()
  }
}

export function socketOfTestRun() {
  const { host, port = 5432 }: pg.ClientConfig = JSON.parse(process.env.BELFRY_TEST_POSTGRES ?? '{}')
  return join(`${host}`, `.s.PGSQL.${port}`)
}

const swallowed = new WeakSet<Pair>()

/** Neither side hears of the other again, not even of its end. */
function swallow(pair: Pair) {
  swallowed.add(pair)
  for (const side of [pair.client, pair.server]) side.removeAllListeners('data').on('data', () => {})
}
