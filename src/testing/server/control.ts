import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { statusOf } from '#http/errors.ts'
import { missing, Refusal, StartError } from '#platform/errors.ts'
import type { Logger } from '#platform/log.ts'
import type { WorldAccess, WorldOptions } from '../protocol.ts'
import {
  readAuthorization,
  readClockMove,
  readDeliveryMatch,
  readFault,
  readNewWorld,
  readPatience,
  readRequestMatch,
  readWaiting,
} from './control-input.ts'
import type { Deliveries } from './deliveries.ts'
import type { World } from './world.ts'

/** Bytes of a body: a seed is the longest. */
const longestBody = 64 << 20
/** Milliseconds that a test waits for a delivery unless it says how long. */
const usualWait = 5000

interface Asked {
  world: World
  id: string
  /** Anything after the name of what is asked for. */
  rest: string[]
  body: unknown
  /** Aborted when the client leaves. */
  left: AbortSignal
}

/** The worlds of a test server by name, and how to make another. */
export interface Worlds {
  find(id: string): World | undefined
  /** What is not given is as in the world `like`. */
  open(like: string, options: WorldOptions): Promise<{ id: string; world: World }>
  close(id: string): Promise<void>
}

/** How tests steer their worlds: JSON over HTTP, on an address of this machine that contains a secret. */
export class Control {
  readonly #server: Server
  readonly #secret = randomBytes(18).toString('base64url')
  readonly #worlds: Worlds
  readonly #log: Logger

  constructor(worlds: Worlds, log: Logger) {
    this.#worlds = worlds
    this.#log = log
    this.#server = createServer((request, response) => void this.#answer(request, response))
    // A test may wait for minutes between two calls.
    this.#server.keepAliveTimeout = 600_000
  }

  async listen() {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  /** Ends open calls, and takes no more. */
  close() {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  accessOf(id: string, world: World): WorldAccess {
    const { port } = this.#server.address() as AddressInfo
    return { ...world.access, control: `http://127.0.0.1:${port}/${this.#secret}/${id}` }
  }

  async #answer(request: IncomingMessage, response: ServerResponse) {
    const left = new AbortController()
    response.once('close', () => left.abort())
    try {
      const [, secret, id = '', ...rest] = (request.url ?? '').split('/')
      if (secret !== this.#secret) throw missing()
      const world = this.#worlds.find(id)
      if (!world) throw new Refusal('missing', 'This world is closed.')
      const body = await readJson(request)
      const key = `${request.method} ${rest[0] ?? ''}`
      const act = this.#acts[key]
      if (!act) throw missing()
      send(response, 200, (await act({ world, id, rest: rest.slice(1), body, left: left.signal })) ?? {})
    } catch (error) {
      const known = error instanceof Refusal || error instanceof StartError
      if (!known) this.#log.error({ err: error }, 'a call of the control API failed')
      const status = error instanceof Refusal ? statusOf[error.reason] : error instanceof StartError ? 422 : 500
      send(response, status, { message: (error as Error).message })
    }
  }

  readonly #acts: Record<string, (asked: Asked) => unknown> = {
    'GET ': ({ id, world }) => this.accessOf(id, world),
    'DELETE ': ({ id }) => this.#worlds.close(id),
    'POST reset': async ({ id, world }) => {
      await world.reset()
      return this.accessOf(id, world)
    },
    'POST worlds': async ({ id, body }) => {
      const made = await this.#worlds.open(id, readNewWorld(body))
      return this.accessOf(made.id, made.world)
    },
    'GET clock': ({ world }) => world.clock.state(),
    'POST clock': ({ world: { clock }, body }) => {
      const move = readClockMove(body)
      if ('set' in move) clock.set(move.set)
      else clock.advance(move.advance)
      return clock.state()
    },
    'GET requests': ({ world }) => world.requests.list(),
    'POST requests': ({ world, body }) => world.requests.list(readRequestMatch(body, world.logins)),
    'DELETE requests': ({ world }) => world.requests.clear(),
    'GET faults': ({ world, rest: [id] }) => (id ? world.faults.hitsOf(Number(id)) : world.faults.list()),
    'POST faults': ({ world, body }) => world.faults.add(readFault(body, world.logins)),
    'DELETE faults': ({ world, rest: [id] }) => (id ? world.faults.remove(Number(id)) : world.faults.clear()),
    'GET deliveries': ({ world }) => world.deliveries.list(),
    'POST deliveries': ({ world: { deliveries }, body, rest: [act], left }) => {
      if (act === 'next') return waitForDelivery(deliveries, body, left)
      return act === 'settled' ? waitForAll(deliveries, body, left) : deliveries.list(readDeliveryMatch(body))
    },
    'POST authorize': async ({ world, body }) => ({ url: await world.authorize(readAuthorization(body, world.logins)) }),
  }
}

async function waitForDelivery(deliveries: Deliveries, body: unknown, left: AbortSignal) {
  const { match = {}, timeout = usualWait } = readWaiting(body)
  const wanted = readDeliveryMatch(match)
  const found = await deliveries.next(wanted, AbortSignal.any([left, AbortSignal.timeout(timeout)]))
  if (found || left.aborted) return found
  const others = (await deliveries.list()).map(
    ({ event, action, repository, url, status_code }) =>
      `${[event, action].filter(Boolean).join('.')} of ${repository ?? 'no repository'} to ${url} (${status_code})`,
  )
  const seen = others.length ? `There were:\n${others.join('\n')}` : 'There was none at all.'
  throw new Refusal('missing', `No new delivery matched ${JSON.stringify(wanted)} within ${timeout} ms. ${seen}`)
}

async function waitForAll(deliveries: Deliveries, body: unknown, left: AbortSignal) {
  const { timeout = usualWait } = readPatience(body)
  const { due, deliveries: found } = await deliveries.settled(AbortSignal.any([left, AbortSignal.timeout(timeout)]))
  if (!due || left.aborted) return found
  throw new Refusal('missing', `After ${timeout} ms, ${due} jobs and deliveries are still due. Does a receiver not answer?`)
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length > longestBody) throw new Refusal('too_large', 'The body is too large')
    chunks.push(chunk)
  }
  if (!length) return {}
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    throw new Refusal('malformed', 'The body must be JSON')
  }
}

function send(response: ServerResponse, status: number, body: unknown) {
  if (response.destroyed) return
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))
}
