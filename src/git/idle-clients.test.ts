import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { endWhenIdle } from './idle-clients.ts'

/** What a server gets for a request, and the connection of its client. */
async function openExchange() {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const arrived = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>
  client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n')
  const [request, response] = await arrived
  const close = async () => {
    client.destroy()
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return { client, request, response, [Symbol.asyncDispose]: close }
}

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

test('a client that does not send the rest of its request is ended', async () => {
  await using exchange = await openExchange()
  await new Promise<void>((resolve) => endWhenIdle(exchange.request, exchange.response, 0.04, resolve))
})

for (const [when, order] of [
  ['after the watch began', ['watch', 'leave']],
  ['before the watch began', ['leave', 'watch']],
] as const) {
  test(`a client that leaves ${when} is not watched any longer`, async () => {
    await using exchange = await openExchange()
    const { client, request, response } = exchange
    const before = timers()
    const steps = {
      watch: () => endWhenIdle(request, response, 1000, () => assert.fail('it is not idle')),
      leave: async () => {
        const closed = once(response, 'close')
        request.on('error', () => {})
        client.destroy()
        await closed
      },
    }
    for (const step of order) await steps[step]()
    assert.equal(timers(), before)
  })
}
