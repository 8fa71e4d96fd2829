import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { checkedLookup, checkLiteral, ForbiddenAddress } from './checked-lookup.ts'
import { readPolicy } from './policy.ts'

const external = readPolicy('external')
const loopback = readPolicy('loopback')

/** Answers each question with the next of these, and counts them. */
function resolver(...answers: string[][]) {
  const asked: { hostname: string; options: object }[] = []
  const resolve = (hostname: string, options: object, answer: (error: null, addresses: LookupAddress[]) => void) => {
    const addresses = answers[asked.push({ hostname, options }) - 1] ?? []
    setImmediate(() =>
      answer(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      ),
    )
  }
  return { asked, resolve }
}

async function listen() {
  const reached: Socket[] = []
  const server = createServer((socket) => void reached.push(socket.on('error', () => {})))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    reached,
    async [Symbol.asyncDispose]() {
      for (const socket of reached) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

test('a connection goes to the address that was checked, and DNS is asked once', async () => {
  await using server = await listen()
  const { asked, resolve } = resolver(['127.0.0.1'], ['127.0.0.2'], ['127.0.0.3'])
  const socket = connect({ host: 'rebound.example', port: server.port, lookup: checkedLookup(loopback, resolve) })
  await once(socket, 'connect')
  assert.equal(socket.remoteAddress, '127.0.0.1')
  assert.deepEqual(
    asked.map(({ hostname }) => hostname),
    ['rebound.example'],
  )
  socket.destroy()
})

test('a name is refused when DNS changes to a forbidden address, and nothing is sent', async () => {
  await using server = await listen()
  const { asked, resolve } = resolver(['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1', '10.0.0.1'])
  const lookup = checkedLookup(loopback, resolve)
  const first = connect({ host: 'rebound.example', port: server.port, lookup })
  await once(first, 'connect')
  first.destroy()
  for (const reason of ['rebound.example has a link-local address', 'rebound.example has a private address']) {
    const socket = connect({ host: 'rebound.example', port: server.port, lookup })
    const [error] = await once(socket, 'error').catch((failure) => [failure])
    assert.ok(error instanceof ForbiddenAddress, String(error))
    assert.equal(error.message, reason)
    assert.equal(error.code, 'FORBIDDEN_ADDRESS')
    assert.equal(error.host, 'rebound.example')
  }
  assert.equal(asked.length, 3)
  assert.ok(server.reached.length <= 1)
})

test('when the first address does not answer, the next is one of those checked', async () => {
  await using server = await listen()
  const { asked, resolve } = resolver(['::1', '127.0.0.1'], ['127.0.0.9'])
  const socket = connect({
    host: 'two.example',
    port: server.port,
    autoSelectFamily: true,
    lookup: checkedLookup(loopback, resolve),
  })
  await once(socket, 'connect')
  assert.equal(socket.remoteAddress, '127.0.0.1')
  assert.equal(asked.length, 1)
  socket.destroy()
})

test('an http request with this lookup is refused before a byte is sent', async () => {
  await using server = await listen()
  const { resolve } = resolver(['127.0.0.1'])
  const sent = request(`http://inner.example:${server.port}/`, { lookup: checkedLookup(external, resolve) }).end()
  const [error] = await once(sent, 'error')
  assert.ok(error instanceof ForbiddenAddress)
  assert.equal(error.address, '127.0.0.1')
  assert.equal(server.reached.length, 0)
})

test('the real resolver is asked when none is given', async () => {
  const refused = await look(checkedLookup(external), 'localhost', { all: true })
  assert.ok(refused.error instanceof ForbiddenAddress)
  assert.equal(refused.error.message, 'localhost has a loopback address')
  const allowed = await look(checkedLookup(loopback), 'localhost', { all: true })
  assert.equal(allowed.error, null)
  // What the URL parser would have normalised, getaddrinfo reads by itself.
  const odd = await look(checkedLookup(external), '2130706433', { all: true })
  assert.ok(odd.error instanceof ForbiddenAddress)
})

interface Answered {
  error: NodeJS.ErrnoException | null
  address: string | LookupAddress[]
  family: number | undefined
}
type Lookup = ReturnType<typeof checkedLookup>

function look(lookup: Lookup, host: string, options?: Parameters<Lookup>[1]) {
  return new Promise<Answered>((resolve) => {
    const answer = (error: Answered['error'], address: Answered['address'], family?: number) =>
      resolve({ error, address, family })
    if (options === undefined) lookup(host, answer)
    else lookup(host, options, answer)
  })
}

test('the lookup returns the requested form', async () => {
  const both = ['2606:4700::1111', '8.8.8.8']
  const { asked, resolve } = resolver(both, both, both, both)
  const lookup = checkedLookup(external, resolve)
  const one = { error: null, address: '2606:4700::1111', family: 6 }
  assert.deepEqual(await look(lookup, 'a.example'), one)
  assert.deepEqual(await look(lookup, 'a.example', { hints: 32 }), one)
  assert.deepEqual(await look(lookup, 'a.example', 6), one)
  const all = [
    { address: '2606:4700::1111', family: 6 },
    { address: '8.8.8.8', family: 4 },
  ]
  assert.deepEqual(await look(lookup, 'a.example', { all: true, family: 0 }), { error: null, address: all, family: undefined })
  assert.deepEqual(
    asked.map(({ options }) => options),
    [{ all: true }, { all: true, hints: 32 }, { all: true, family: 6 }, { all: true, family: 0 }],
  )
})

test('one refused address refuses all addresses of a name', async () => {
  for (const mixed of [
    ['8.8.8.8', '10.0.0.1'],
    ['10.0.0.1', '8.8.8.8'],
    ['8.8.8.8', '1.1.1.1', '::ffff:10.0.0.1'],
  ]) {
    for (const options of [{ all: true }, {}]) {
      const { error, address } = await look(checkedLookup(external, resolver(mixed).resolve), 'mixed.example', options)
      assert.ok(error instanceof ForbiddenAddress)
      assert.deepEqual(address, [])
    }
  }
})

test('a resolver that changes its answer afterwards changes nothing', async () => {
  const answer = [{ address: '8.8.8.8', family: 4 }]
  const { address } = await look(
    checkedLookup(external, (_, __, give) => give(null, answer)),
    'a.example',
    { all: true },
  )
  if (answer[0]) answer[0].address = '127.0.0.1'
  assert.deepEqual(address, [{ address: '8.8.8.8', family: 4 }])
})

test('a resolver error is passed on, and a name without addresses is an error', async () => {
  const failure = Object.assign(new Error('try again'), { code: 'EAI_AGAIN' })
  const failed = await look(
    checkedLookup(external, (_, __, give) => give(failure, [])),
    'a.example',
  )
  assert.equal(failed.error, failure)
  const none = await look(checkedLookup(external, resolver([]).resolve), 'a.example')
  assert.equal(none.error?.code, 'ENOTFOUND')
})

test('a literal address is checked without a lookup, with brackets or without; a name is left to the lookup', () => {
  assert.equal(checkLiteral(external, '127.0.0.1')?.message, '127.0.0.1 is a loopback address')
  assert.equal(checkLiteral(external, '[::1]')?.message, '::1 is a loopback address')
  assert.equal(checkLiteral(external, '::1')?.message, '::1 is a loopback address')
  assert.equal(checkLiteral(loopback, 'fe80::1%lo')?.message, 'fe80::1%lo is an address with a zone')
  assert.ok(checkLiteral(external, '10.0.0.1') instanceof ForbiddenAddress)
  assert.equal(checkLiteral(external, '8.8.8.8'), undefined)
  assert.equal(checkLiteral(external, 'localhost'), undefined)
  assert.equal(checkLiteral(external, '127.1'), undefined)
})
