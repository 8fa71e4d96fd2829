import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { openEgress } from './egress.ts'
import type { Gateway } from './gateways.ts'
import { readPolicy } from './policy.ts'

async function openOrigin() {
  const seen: { url: string | undefined; authorization: string | undefined; host: string | undefined }[] = []
  const server = createServer((question, answer) => {
    const { authorization, host } = question.headers
    seen.push({ url: question.url, authorization, host })
    const status = Number(question.url?.split('/').at(-1))
    const headers = { location: 'file:///etc', 'www-authenticate': 'Negotiate', 'x-kept': '1' }
    answer.writeHead(status, headers).end(status === 200 ? 'hello' : undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    seen,
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function ask({ host, username, password }: Gateway, path: string, auth: string | null = `${username}:${password}`) {
  const [hostname, port] = host.split(':')
  const sent = request({ hostname, port, path, ...(auth !== null && { auth }) }).end()
  const [answer] = await once(sent, 'response')
  return { status: answer.statusCode, headers: answer.headers, text: Buffer.concat(await answer.toArray()).toString() }
}

test('a gateway leads to one origin, adds the password of the source and refuses redirects', async () => {
  await using origin = await openOrigin()
  await using egress = await openEgress(readPolicy('loopback'))
  const failures: unknown[] = []
  const headers = { authorization: 'Basic b3duZXI=' }
  const options = { headers, onFailure: (reason: unknown) => failures.push(reason) }
  const gateway = await egress.gateway(`http://${origin.host}/path`, options)
  assert.equal((await ask(gateway, '//other/200')).text, 'hello')
  assert.deepEqual(origin.seen, [{ url: '//other/200', authorization: headers.authorization, host: origin.host }])
  for (const status of [300, 301, 302, 303, 305, 307, 308, 399]) {
    const answer = await ask(gateway, `/${status}`)
    assert.deepEqual([answer.status, answer.headers.location], [421, undefined], `${status}`)
  }
  assert.equal(failures.length, 8)
  for (const status of [401, 407]) {
    const answer = await ask(gateway, `/${status}`)
    assert.deepEqual([answer.status, answer.headers['www-authenticate']], [403, undefined], 'the client has no other password')
  }

  const before = origin.seen.length
  assert.equal((await ask(gateway, '/200', null)).status, 401)
  assert.equal((await ask(gateway, '/200', 'belfry:wrong')).status, 401)
  assert.equal((await ask(gateway, `http://${origin.host}/200`)).status, 400)
  assert.equal(origin.seen.length, before)
  const open = await egress.gateway(`http://${origin.host}`, { ...options, headers: {} })
  await ask(open, '/200')
  assert.equal(origin.seen.at(-1)?.authorization, undefined, 'the password of the gateway stays here')
})

test('a gateway follows the address policy', async () => {
  await using egress = await openEgress(readPolicy('external'), null, (_, __, answer) =>
    answer(null, [{ address: '10.0.0.1', family: 4 }]),
  )
  const failures: unknown[] = []
  const options = { headers: {}, onFailure: (reason: unknown) => failures.push(reason) }
  await assert.rejects(egress.gateway('http://127.0.0.1:1/', options), { code: 'FORBIDDEN_ADDRESS' })
  for (const origin of ['http://inner.example', 'https://inner.example']) {
    assert.equal((await ask(await egress.gateway(origin, options), '/')).status, 421)
    assert.equal((failures.at(-1) as NodeJS.ErrnoException).code, 'FORBIDDEN_ADDRESS')
  }
})
