import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import type { Resolve } from './checked-lookup.ts'
import { type Egress, openEgress } from './egress.ts'
import { readPolicy } from './policy.ts'

const loopback = readPolicy('loopback')
const [done, forbidden, unreachable, unknown] = [0, 2, 4, 7]

interface Wish {
  methods?: number[]
  username?: string
  password?: string
  command?: number
  kind?: number
  address?: Buffer
}

const named = (name: string) => ({ kind: 3, address: Buffer.from([name.length, ...Buffer.from(name, 'latin1')]) })
const four = (...bytes: number[]) => ({ kind: 1, address: Buffer.from(bytes) })
const six = (hex: string) => ({ kind: 4, address: Buffer.from(hex, 'hex') })

/** Goes through the relay by hand: the reply to the wish, or where it ended before that. */
async function go({ relay }: Egress, port: number, wish: Wish) {
  const { methods = [0, 2], username = relay.username, password = relay.password, command = 1 } = wish
  const socket = connect(relay.port, relay.host)
  await once(socket, 'connect')
  socket.write(Buffer.from([5, methods.length, ...methods]))
  const [, method] = await next(socket)
  if (method !== 2) return { refused: 'introduction', socket }
  socket.write(
    Buffer.concat([
      Buffer.from([1, username.length]),
      Buffer.from(username),
      Buffer.from([password.length]),
      Buffer.from(password),
    ]),
  )
  const [, known] = await next(socket)
  if (known !== 0) return { refused: 'password', socket }
  const place = Buffer.alloc(2)
  place.writeUInt16BE(port)
  const { kind, address } = { ...four(127, 0, 0, 1), ...wish }
  socket.write(Buffer.concat([Buffer.from([5, command, 0, kind]), address, place]))
  const [, reply] = await next(socket)
  return { reply, socket }
}

async function next(socket: Socket): Promise<Buffer> {
  const [said] = (await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [Buffer.alloc(0)])])) as [Buffer]
  return said
}

async function openOrigin() {
  const hosts: (string | undefined)[] = []
  const server = createServer((question, answer) => {
    hosts.push(question.headers.host)
    question.pipe(answer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    hosts,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

test('what is said through the relay is heard as it is, both ways and of any size', async () => {
  await using origin = await openOrigin()
  await using egress = await openEgress(loopback)
  const body = Buffer.alloc(3 << 20, 'abcdefg')
  for (const wish of [four(127, 0, 0, 1), named('localhost')]) {
    const { reply, socket } = await go(egress, origin.port, wish)
    assert.equal(reply, done)
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`)
    socket.write(body)
    const heard = Buffer.concat(await socket.toArray()).toString('latin1')
    assert.ok(heard.startsWith('HTTP/1.1 200 OK\r\n'))
    assert.ok(heard.includes('abcdefgabcdefg'))
    assert.ok(heard.length > body.length)
  }
  assert.deepEqual(origin.hosts, ['x', 'x'])
})

test('who does not say the password is let nowhere', async () => {
  await using origin = await openOrigin()
  await using egress = await openEgress(loopback)
  const { password } = egress.relay
  assert.equal((await go(egress, origin.port, { methods: [0] })).refused, 'introduction')
  assert.equal((await go(egress, origin.port, { methods: [] })).refused, 'introduction')
  for (const wrong of ['', 'x', password.slice(1), `${password}x`]) {
    assert.equal((await go(egress, origin.port, { password: wrong })).refused, 'password')
  }
  assert.equal((await go(egress, origin.port, { username: 'root' })).refused, 'password')
  assert.deepEqual(origin.hosts, [])
})

test('the policy has the last word, however an address is written and wherever a name leads', async () => {
  const resolve: Resolve = (name, _, answer) => setImmediate(() => answer(null, [{ address: name.slice(2), family: 4 }]))
  await using egress = await openEgress(readPolicy('external'), null, resolve)
  const inner = [
    ...[four(127, 0, 0, 1), four(10, 0, 0, 1), four(169, 254, 169, 254)],
    ...[six('0000000000000000000000000000000 1'.replaceAll(' ', '')), six('00000000000000000000ffff7f000001')],
    ...[named('localhost'), named('2130706433'), named('0x7f.1'), named('a.10.0.0.1'), named('a.169.254.169.254')],
  ]
  for (const wish of inner) assert.equal((await go(egress, 8080, wish)).reply, forbidden, wish.address.toString('latin1'))
  assert.equal((await go(egress, 25, four(1, 1, 1, 1))).reply, forbidden)
  for (const wish of [named('a/b'), named('a@b'), named('a b'), named('[::1]'), named(''), { command: 2 }, { kind: 9 }]) {
    assert.equal((await go(egress, 8080, wish)).reply, unknown, JSON.stringify(wish))
  }
})

test('a name that moves is judged each time, what is dead is told, and who breaks off is forgotten', async () => {
  await using origin = await openOrigin()
  const answers = ['127.0.0.1', '10.0.0.1']
  const resolve: Resolve = (_, __, answer) => setImmediate(() => answer(null, [{ address: answers.shift() ?? '', family: 4 }]))
  await using egress = await openEgress(loopback, null, resolve)
  assert.equal((await go(egress, origin.port, named('moving.example'))).reply, done)
  assert.equal((await go(egress, origin.port, named('moving.example'))).reply, forbidden)
  const gone = await openOrigin()
  await gone[Symbol.asyncDispose]()
  assert.equal((await go(egress, gone.port, {})).reply, unreachable)
  for (const half of [[5], [5, 1], [4, 1, 2], [5, 1, 2, 1, 200]]) {
    const socket = connect(egress.relay.port, egress.relay.host)
    socket.end(Buffer.from(half))
    await once(socket.resume(), 'close')
  }
})
