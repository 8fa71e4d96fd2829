import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fillIn } from '#hosting/announcements/addresses.ts'
import { sql } from '#platform/database.ts'
import { expect, type Forge, type Person } from './forge.ts'
import { until } from './machine.ts'

/** What a hook is told of: the event's name, and the payload as it is sent. */
export interface Heard {
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every shape, and the assertions are their types.
  payload: any
}

/** Makes a hook that nothing is sent for, since its owner listens by a stream; `heard` tells what it would be sent. */
export async function hookOn(person: Person, place: string, ...events: string[]): Promise<{ id: number }> {
  return expect(201, await person.post(`/${place}/hooks`, { config: { url: 'belfry:listen' }, events }))
}

/** Everything that was told of so far, oldest first, without the pings that hooks are made with. */
export async function heard(forge: Forge): Promise<Heard[]> {
  const rows = await forge.belfry.db.rows<{ event: string; body: string }>(
    sql`select event, body from payloads where event <> 'ping' order by id`,
  )
  return rows.map(({ event, body }) => ({ event, payload: JSON.parse(fillIn(body, forge.web)) }))
}

/** What a hook is told of once `act` is done. */
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

/** A receiver of webhooks on this machine. `answer` says what it does with a request; left out, it answers 200. */
export async function openReceiver(
  answer: (response: ServerResponse, received: Received) => void = (response) => response.end('ok'),
) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const one = { headers: request.headers, body, json: readPayload(body, request.headers['content-type']) }
    received.push(one)
    answer(response, one)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    /** Waits until so many came, and gives them all. */
    async first(count: number) {
      await until(`${count} deliveries came`, () => received.length >= count)
      return received
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function readPayload(body: Buffer, type: string | undefined) {
  const text = type === 'application/json' ? body.toString() : (new URLSearchParams(body.toString()).get('payload') ?? 'null')
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
