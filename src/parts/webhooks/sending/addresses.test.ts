import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { checkedLookup } from '#platform/outbound/checked-lookup.ts'
import { readPolicy } from '#platform/outbound/policy.ts'
import { expect, openForge } from '#test/forge.ts'
import { delivered, openReceiver } from '#test/webhooks.ts'
import { failureOf } from './failures.ts'
import { openTransport } from './transport.ts'

test('a forbidden address is refused for a new hook, and not connected to for an existing one', async () => {
  await using forge = await openForge({ worker: true, settings: { BELFRY_HOST: '0.0.0.0' } })
  await using receiver = await openReceiver()
  const { db } = forge.belfry
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const hooks = '/repos/ada/engine/hooks'
  const { port } = new URL(receiver.url)
  const spellings = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '１２７.0.0.1',
    'localhost',
    'a.localhost',
    '[::1]',
  ]
    .concat([
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
      '169.254.169.254',
      '10.0.0.1',
      '100.64.0.1',
    ])
    .map((host) => `http://${host}:${port}/`)
  for (const url of spellings) {
    const { errors } = await expect(422, await ada.post(hooks, { config: { url } }))
    assert.equal(errors[0].field, 'url')
    assert.match(errors[0].message, /^url is not supported because /, url)
  }
  // A hook whose address was allowed when it was created.
  const hook = await expect(201, await ada.post(hooks, { config: { url: 'http://hooks.invalid/' } }))
  await delivered(ada, hook)
  let count = 1
  for (const url of spellings) {
    await db.query(sql`update hooks set url = ${url}, failures = 0, throttled_until = null where id = ${hook.id}`)
    await expect(204, await ada.post(`${hooks}/${hook.id}/pings`))
    const last = (await delivered(ada, hook, ++count)).at(-1)
    assert.partialDeepStrictEqual(last, { status: 'failed to connect to host', status_code: 502, url })
  }
  assert.equal(receiver.connections, 0)
})

/** A receiver at another loopback address. */
async function openNeighbour(port: number) {
  let connections = 0
  const server = createServer((_, response) => response.end()).on('connection', () => {
    connections++
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.2', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  }
}

test('a name whose addresses change cannot lead to a forbidden address', async () => {
  await using allowed = await openReceiver((response) => response.writeHead(200, { connection: 'close' }).end('ok'))
  const port = Number(new URL(allowed.url).port)
  await using forbidden = await openNeighbour(port)
  const policy = readPolicy('127.0.0.1')
  const answers = [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1', '127.0.0.2'], ['::ffff:127.0.0.2'], ['127.0.0.1']]
  let asked = 0
  const lookup = checkedLookup(policy, (_, __, answer) => {
    const addresses: LookupAddress[] = (answers[asked++] ?? []).map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }))
    answer(null, addresses)
  })
  const transport = openTransport(policy, null, lookup)
  const said: (number | string)[] = []
  for (const _ of answers) {
    const url = `http://hooks.example:${port}/`
    const signal = new AbortController().signal
    said.push(
      await transport.post(url, {}, Buffer.from('{}'), false, 10, signal).then(
        ({ status_code }) => status_code,
        (error) => failureOf(error).status,
      ),
    )
  }
  await transport.close()
  const refused = 'failed to connect to host'
  assert.deepEqual(said, [200, refused, refused, refused, 200])
  // Each connection resolves the name once and uses that address.
  assert.equal(asked, answers.length)
  assert.deepEqual([allowed.connections, forbidden.connections], [2, 0])
})

test('a DNS lookup without an answer ends with the time limit of the exchange', async () => {
  const policy = readPolicy('external')
  const transport = openTransport(
    policy,
    null,
    checkedLookup(policy, () => {}),
  )
  const post = transport.post('http://hooks.example/', {}, Buffer.from('{}'), false, 0.2, new AbortController().signal)
  assert.deepEqual(await post.then(() => assert.fail(), failureOf), { status: 'timed out', status_code: 504 })
  await transport.close()
})
