import { timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, isIPv6, type Socket } from 'node:net'
import { ForbiddenAddress } from './checked-lookup.ts'
import type { Account, Way } from './egress.ts'
import { join } from './tunnel.ts'

/** Of SOCKS, https://www.rfc-editor.org/rfc/rfc1928. */
const version = 5
const byPassword = 2
const noWay = 0xff
const connecting = 1
const addresses = { v4: 1, name: 3, v6: 4 }
const replies = { done: 0, forbidden: 2, unreachable: 4, unknown: 7 }
/** How long a client may take to say where it wants to go, in milliseconds. */
const patience = 10_000

/** A proxy for programs that speak SOCKS 5: names are resolved here, and what passes afterwards is not looked at. */
export async function openRelay(way: Way, account: Account): Promise<{ host: string; port: number } & AsyncDisposable> {
  const joined = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    joined.add(client)
    client.on('error', () => {}).once('close', () => joined.delete(client))
    client.setTimeout(patience, () => client.destroy())
    const reader = openReader(client)
    introduce(client, reader.take, account)
      .then(() => lead(way, client, reader, joined))
      // What is said to it at last is still sent.
      .catch(() => client.destroySoon())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    ...{ host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    async [Symbol.asyncDispose]() {
      for (const socket of joined) socket.destroy()
      await new Promise((closed) => server.close(closed))
    },
  }
}

/** Only who has the password goes on. */
async function introduce(client: Socket, take: Take, { username, password }: Account) {
  const [spoken, count = 0] = await take(2)
  const methods = await take(count)
  if (spoken !== version || !methods.includes(byPassword)) return refuse(client, [version, noWay])
  client.write(Buffer.from([version, byPassword]))
  const [, length = 0] = await take(2)
  const name = await take(length)
  const secret = await take((await take(1))[0] ?? 0)
  const known = [isSame(name, username), isSame(secret, password)].every((same) => same)
  if (!known) return refuse(client, [1, 1])
  client.write(Buffer.from([1, 0]))
}

function isSame(given: Buffer, expected: string) {
  const wanted = Buffer.from(expected)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

async function lead(way: Way, client: Socket, { take, end }: ReturnType<typeof openReader>, joined: Set<Socket>) {
  const [, command, , kind = 0] = await take(4)
  const host = await readHost(take, kind)
  const port = (await take(2)).readUInt16BE()
  if (command !== connecting || host === undefined) return refuse(client, answer(replies.unknown))
  try {
    const { hostname } = way.check(`http://${isIPv6(host) ? `[${host}]` : host}:${port}/`)
    const upstream: Socket = way.connect(hostname, port, (bytes) => passOn(bytes, upstream, client))
    client.once('close', () => upstream.destroy())
    await once(upstream, 'connect')
    client.setTimeout(0)
    client.write(Buffer.from(answer(replies.done)))
    end()
    join(client, upstream, joined)
  } catch (error) {
    refuse(client, answer(error instanceof ForbiddenAddress ? replies.forbidden : replies.unreachable))
  }
}

/** Past what streams do with each piece, which takes three times as long as all the rest. */
function passOn(bytes: Buffer, from: Socket, to: Socket): boolean {
  let waiting = false
  to.write(bytes, () => waiting && from.resume())
  waiting = to.writableLength > 0
  return !waiting
}

async function readHost(take: Take, kind: number): Promise<string | undefined> {
  if (kind === addresses.name) {
    const name = (await take((await take(1))[0] ?? 0)).toString('latin1')
    // What could be more of an address than a host is none.
    return /^[\w.-]+$/.test(name) ? name : undefined
  }
  if (kind === addresses.v4) return [...(await take(4))].join('.')
  if (kind !== addresses.v6) return undefined
  const bytes = await take(16)
  return Array.from({ length: 8 }, (_, place) => bytes.readUInt16BE(place * 2).toString(16)).join(':')
}

/** Where the way begins is of no interest. */
const answer = (reply: number) => [version, reply, 0, addresses.v4, 0, 0, 0, 0, 0, 0]

function refuse(client: Socket, words: number[]): never {
  client.end(Buffer.from(words))
  throw new Error('refused')
}

type Take = (many: number) => Promise<Buffer>

/** Gives so many bytes at a time, when they have come; what is left over is given back. */
function openReader(client: Socket): { take: Take; end(): void } {
  let rest = Buffer.alloc(0)
  return {
    async take(many) {
      while (rest.length < many) {
        // All there is: a socket that holds some of it says again and again that it can be read.
        const read: Buffer | null = client.read()
        if (read) rest = Buffer.concat([rest, read])
        else if (client.readableEnded || client.destroyed) throw new Error('the client has gone')
        else await Promise.race(['readable', 'end', 'close'].map((event) => once(client, event)))
      }
      const taken = rest.subarray(0, many)
      rest = rest.subarray(many)
      return taken
    },
    end() {
      if (rest.length > 0) client.unshift(rest)
    },
  }
}
