import {
  createServer,
  type Server as HttpServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer as createSocketServer, type Server, type Socket } from 'node:net'
import { fillIn } from '#activity/outbox/addresses.ts'
import { deliveriesTopic } from '#activity/outbox/outbox.ts'
import { sql } from '#platform/database.ts'
import { expect, type Forge, type Person } from './forge.ts'
import { until } from './machine.ts'

/** A webhook event with its payload as it is sent. */
export interface Heard {
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every shape, and the assertions are their types.
  payload: any
}

/** Creates a hook to belfry:listen, so that nothing is sent. `heard` returns its payloads. */
export async function hookOn(person: Person, place: string, ...events: string[]): Promise<{ id: number }> {
  return expect(201, await person.post(`/${place}/hooks`, { config: { url: 'belfry:listen' }, events }))
}

/** All stored payloads without pings, oldest first. */
export async function heard(forge: Forge): Promise<Heard[]> {
  const rows = await forge.belfry.db.rows<{ event: string; body: string }>(
    sql`select event, body from payloads where event <> 'ping' order by id`,
  )
  return rows.map(({ event, body }) => ({ event, payload: JSON.parse(fillIn(body, forge.web)) }))
}

/** The payloads that `act` creates. */
export async function heardOf(forge: Forge, act: () => Promise<unknown>): Promise<Heard[]> {
  const before = (await heard(forge)).length
  await act()
  return (await heard(forge)).slice(before)
}

export interface Received {
  headers: IncomingHttpHeaders
  body: Buffer
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  json: any
}

/** A server on this machine that answers with a listener. */
export async function openServer(server: HttpServer) {
  const { port, counted } = await listen(server)
  return {
    url: `http://127.0.0.1:${port}/`,
    counted,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A receiver of webhooks on this machine. `answer` handles a request; the default responds 200. With a certificate it uses TLS. */
export async function openReceiver(
  answer: (response: ServerResponse, received: Received) => void = (response) => response.end('ok'),
  certificate?: { key: string; cert: string },
) {
  const received: Received[] = []
  const listener: RequestListener = async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const one = { headers: request.headers, body, json: readPayload(body, request.headers['content-type']) }
    received.push(one)
    answer(response, one)
  }
  const server = certificate ? createSecureServer(certificate, listener) : createServer(listener)
  const { url, counted, ...open } = await openServer(server)
  return {
    ...open,
    url: certificate ? url.replace('http:', 'https:') : url,
    received,
    /** The number of connections so far. */
    get connections() {
      return counted.connections
    },
    /** Waits for so many requests and returns all. */
    async first(count: number) {
      await until(`${count} deliveries came`, () => received.length >= count)
      return received
    },
  }
}

async function listen(server: Server) {
  const counted = { connections: 0 }
  server.on('connection', () => {
    counted.connections++
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, counted }
}

function readPayload(body: Buffer, type: string | undefined) {
  const text = type === 'application/json' ? body.toString() : (new URLSearchParams(body.toString()).get('payload') ?? 'null')
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A raw TCP receiver. `answer` gets the connection after each complete request. */
export async function openSocketReceiver(answer: (socket: Socket, requests: number) => void) {
  const sockets = new Set<Socket>()
  let requests = 0
  const server = createSocketServer((socket) => {
    sockets.add(socket)
    let text = ''
    socket.setEncoding('latin1').on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (chunk) => {
      text += chunk
      const end = text.indexOf('\r\n\r\n') + 4
      const length = Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0)
      if (end < 4 || text.length < end + length) return
      text = text.slice(end + length)
      answer(socket, ++requests)
    })
  })
  const { port, counted } = await listen(server)
  return {
    url: `http://127.0.0.1:${port}/`,
    get requests() {
      return requests
    },
    get connections() {
      return counted.connections
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The deliveries of a hook in full, oldest first, once so many are recorded. */
// biome-ignore lint/suspicious/noExplicitAny: as above.
export async function delivered(person: Person, hook: { deliveries_url: string }, count = 1): Promise<any[]> {
  const list = () => person.read(`${hook.deliveries_url}?per_page=100`)
  await until(`${count} deliveries are recorded`, async () => (await list()).length >= count)
  const items: { id: number }[] = await list()
  return Promise.all(items.reverse().map(({ id }) => person.read(`${hook.deliveries_url}/${id}`)))
}

/** Stores a delivery whose payload is too large to be sent. */
export async function storeTooLarge({ belfry: { db } }: Forge, hook: { id: number }) {
  await db.transaction(async (transaction) => {
    await transaction.query(sql`
      with told as (
        insert into payloads (id, event, body, created_at) values (delivery_id(${db.now}), 'push', null, ${db.now}) returning *
      )
      insert into pending_deliveries (id, hook_id, payload_id, guid, event, redelivery, created_at, ready_at)
      select delivery_id(${db.now}), ${hook.id}, id, gen_random_uuid(), event, false, ${db.now}, ${db.now} from told`)
    transaction.touch(deliveriesTopic)
  })
}
