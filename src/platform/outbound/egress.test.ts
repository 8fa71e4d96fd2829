import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect, createServer as createPlainServer, type Server } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Resolve } from './checked-lookup.ts'
import { type Egress, openEgress } from './egress.ts'
import { readPolicy } from './policy.ts'

const loopback = readPolicy('loopback')
const certificates = join(import.meta.dirname, '../../../test/certificates')

/** Answers each question with the next of these, and the last of them for ever. */
function resolver(...answers: string[]): Resolve {
  return (_, __, answer) => {
    const address = (answers.length > 1 ? answers.shift() : answers[0]) ?? ''
    const found: LookupAddress[] = [{ address, family: address.includes(':') ? 6 : 4 }]
    setImmediate(() => answer(null, found))
  }
}

async function listening(server: Server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    async [Symbol.asyncDispose]() {
      server.close()
      if ('closeAllConnections' in server) (server.closeAllConnections as () => void)()
      await once(server, 'close')
    },
  }
}

/** Tells what it was asked, and moves whoever comes to /moved. */
async function openOrigin() {
  const asked: string[] = []
  const answering = async (question: IncomingMessage, answer: ServerResponse) => {
    const body = Buffer.concat(await question.toArray())
    asked.push(`${question.method} ${question.url} ${question.headers.host} ${body.length}`)
    if (question.url === '/moved') answer.writeHead(302, { location: '/elsewhere' }).end()
    else
      answer
        .writeHead(200, { 'X-Seen': JSON.stringify(question.headers), 'WWW-Authenticate': ['Basic', 'Digest'] })
        .end(body.length > 0 ? body : 'hello')
  }
  const server = await listening(createServer(answering))
  return { ...server, asked }
}

interface Asked {
  method?: string
  headers?: Record<string, string>
  body?: Buffer
  authorization?: string | null
  agent?: Agent
}

function passwordOf({ proxy }: Egress) {
  return `Basic ${Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64')}`
}

/** What the proxy says to an absolute address, or to CONNECT. */
async function ask(egress: Egress, path: string, { authorization = passwordOf(egress), ...asked }: Asked = {}) {
  const { host, port } = egress.proxy
  const headers = { ...asked.headers, ...(authorization !== null && { 'Proxy-Authorization': authorization }) }
  const sent = request({ host, port, path, method: asked.method ?? 'GET', headers, ...(asked.agent && { agent: asked.agent }) })
  sent.end(asked.body)
  const [answer, socket, head] = await Promise.race([once(sent, 'response'), once(sent, 'connect')])
  if (asked.method === 'CONNECT' && answer.statusCode === 200) return { status: 200, headers: answer.headers, text: '', socket }
  const chunks = asked.method === 'CONNECT' ? [head, ...(await socket.toArray())] : await answer.toArray()
  return { status: answer.statusCode, headers: answer.headers, text: Buffer.concat(chunks).toString(), socket }
}

test('the proxy passes on requests and answers of any size, without what is only between it and its client', async () => {
  await using origin = await openOrigin()
  await using egress = await openEgress(loopback)
  const agent = new Agent({ keepAlive: true })
  const url = `http://127.0.0.1:${origin.port}/a?b=c`
  const plain = await ask(egress, url, { agent, headers: { 'X-Mine': '1', Connection: 'X-Gone, keep-alive', 'X-Gone': '1' } })
  assert.equal(plain.text, 'hello')
  const seen = JSON.parse(String(plain.headers['x-seen']))
  assert.equal(seen['x-mine'], '1')
  assert.equal(seen['x-gone'], undefined)
  assert.equal(seen['proxy-authorization'], undefined)
  for (const size of [10, 5_000_000]) {
    const body = Buffer.alloc(size, 'x')
    const posted = await ask(egress, url, { method: 'POST', body, agent })
    assert.equal(posted.text.length, size)
  }
  // The response to this one is copied without being parsed.
  const last = await ask(egress, url, { method: 'POST', body: Buffer.alloc(60_000, 'x'), headers: { Connection: 'close' } })
  assert.deepEqual([last.status, last.text.length], [200, 60_000])
  const moved = await ask(egress, `http://127.0.0.1:${origin.port}/moved`, { agent })
  assert.equal(moved.status, 302)
  assert.equal(moved.headers.location, '/elsewhere')
  assert.deepEqual(
    origin.asked.map((line) => line.split(' ').slice(0, 2).join(' ')),
    ['GET /a?b=c', 'POST /a?b=c', 'POST /a?b=c', 'POST /a?b=c', 'GET /moved'],
  )
  agent.destroy()
})

test('a connection that was closed behind our back is not the end of a small request', async () => {
  const requests: number[] = []
  const forgetful = createPlainServer((socket) => {
    let count = 0
    socket
      .on('error', () => {})
      .on('data', () => {
        requests.push(++count)
        if (count > 1) socket.destroy()
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      })
  })
  await using origin = await listening(forgetful)
  await using egress = await openEgress(loopback)
  for (let time = 0; time < 2; time++) {
    const answer = await ask(egress, `http://127.0.0.1:${origin.port}/`, { method: 'REPORT', body: Buffer.from('small') })
    assert.deepEqual([answer.status, answer.text], [200, 'ok'])
  }
  assert.deepEqual(requests, [1, 2, 1])
  for (let time = 0; time < 2; time++) {
    const { body } = await egress.request(`http://127.0.0.1:${origin.port}/`, { headers: { 'X-Small': '1' } })
    assert.equal(Buffer.concat(await body.toArray()).toString(), 'ok')
    // Only after this turn the connection is free for another.
    await new Promise(setImmediate)
  }
  assert.deepEqual(requests.slice(3), [1, 2, 1])
})

test('who has no password, or another, is asked for it and gets nothing', async () => {
  await using origin = await openOrigin()
  await using egress = await openEgress(loopback)
  const known = passwordOf(egress)
  for (const authorization of [null, '', 'Basic', known.slice(0, -1), `${known}=`, known.replace('Basic', 'Bearer')]) {
    for (const [path, method] of [
      [`http://127.0.0.1:${origin.port}/`, 'GET'],
      [`127.0.0.1:${origin.port}`, 'CONNECT'],
    ] as const) {
      const answer = await ask(egress, path, { method, authorization })
      assert.equal(answer.status, 407, `${method} ${authorization}`)
      assert.equal(answer.headers['proxy-authenticate'], 'Basic realm="belfry"')
    }
  }
  assert.deepEqual(origin.asked, [])
})

/** Where nobody may go, however it is written; names have the address behind them. */
const blocked: [policy: string, host: string, named: string, reason: string][] = [
  ['external', '127.0.0.1', '', '127.0.0.1 is a loopback address'],
  ['external', '2130706433', '', '127.0.0.1 is a loopback address'],
  ['external', '0x7f.1', '', '127.0.0.1 is a loopback address'],
  ['external', '10.0.0.1', '', '10.0.0.1 is a private address'],
  ['external', '[::1]', '', '::1 is a loopback address'],
  ['external', '[fd12::1]', '', 'fd12::1 is a private address'],
  ['external', '[::ffff:127.0.0.1]', '', '::ffff:7f00:1 is an IPv4-mapped address holding a loopback address'],
  ['external', 'localhost', '', 'localhost has a loopback address'],
  ['external', 'inner.example', '192.168.0.1', 'inner.example has a private address'],
  ['external', 'inner.example', '::ffff:10.0.0.1', 'inner.example has an IPv4-mapped address holding a private address'],
  ['external loopback', '169.254.169.254', '', '169.254.169.254 is a link-local address'],
  ['external loopback', 'metadata.example', '169.254.169.254', 'metadata.example has a link-local address'],
  ['external loopback', 'six.example', 'fe80::1', 'six.example has a link-local address'],
]

for (const [policy, host, named, reason] of blocked) {
  test(`with "${policy}", no way leads to ${host}${named && ` at ${named}`}`, async () => {
    await using egress = await openEgress(readPolicy(policy), null, resolver(named))
    const plain = await ask(egress, `http://${host}:8080/`)
    assert.deepEqual([plain.status, plain.text], [421, `${reason}\n`])
    const tunnel = await ask(egress, `${host}:8443`, { method: 'CONNECT' })
    assert.deepEqual([tunnel.status, tunnel.text], [421, `${reason}\n`])
    await assert.rejects(egress.request(`http://${host}:8080/`), { code: 'FORBIDDEN_ADDRESS', message: reason })
    await assert.rejects(egress.tunnel(host.replace(/^\[|\]$/g, ''), 3690), { code: 'FORBIDDEN_ADDRESS', message: reason })
  })
}

test('a name whose address changes is judged each time it is looked up, and reached where it was found', async () => {
  await using origin = await openOrigin()
  await using egress = await openEgress(loopback, null, resolver('127.0.0.1', '10.0.0.1'))
  const url = `http://moving.example:${origin.port}/`
  assert.equal((await ask(egress, url, { headers: { Connection: 'close' } })).status, 200)
  assert.deepEqual(origin.asked, [`GET / moving.example:${origin.port} 0`])
  await assert.rejects(egress.request(url), { message: 'moving.example has a private address' })
  const tunnel = await ask(egress, `moving.example:${origin.port}`, { method: 'CONNECT' })
  assert.equal(tunnel.status, 421)
})

test('what cannot be reached, is no address or not for HTTP is told apart', async () => {
  const gone = await openOrigin()
  await gone[Symbol.asyncDispose]()
  await using egress = await openEgress(loopback)
  const dead = `127.0.0.1:${gone.port}`
  assert.equal((await ask(egress, `http://${dead}/`)).status, 502)
  assert.equal((await ask(egress, `http://${dead}/`, { headers: { Connection: 'close' } })).status, 502)
  assert.equal((await ask(egress, dead, { method: 'CONNECT' })).status, 502)
  await assert.rejects(egress.request(`http://${dead}/`), { code: 'ECONNREFUSED' })
  await assert.rejects(egress.tunnel('127.0.0.1', gone.port), { code: 'ECONNREFUSED' })
  for (const path of ['/', 'ftp://127.0.0.1/', 'http://a:b@127.0.0.1/', 'http://127.0.0.1:25/', 'https://127.0.0.1/']) {
    assert.equal((await ask(egress, path)).status, 421, path)
  }
  for (const path of ['127.0.0.1:22', 'a@127.0.0.1:443', '127.0.0.1:443/x', '']) {
    assert.equal((await ask(egress, path, { method: 'CONNECT' })).status, 421, path)
  }
})

test('headers that are too long end the connection', async () => {
  await using egress = await openEgress(loopback)
  const sent = ask(egress, 'http://127.0.0.1/', { headers: { 'X-Long': 'x'.repeat(40_000) } })
  await assert.rejects(sent, { code: 'ECONNRESET' })
})

test('a request of our own follows no redirect and trusts only who it should', async () => {
  await using origin = await openOrigin()
  const [key, cert] = ['localhost.key', 'localhost.pem'].map((name) => readFileSync(join(certificates, name), 'utf8'))
  await using secured = await listening(createSecureServer({ key, cert }, (_, answer) => void answer.end('secret')))
  await using egress = await openEgress(loopback)
  const moved = await egress.request(`http://127.0.0.1:${origin.port}/moved`)
  assert.equal(moved.status, 302)
  moved.body.resume()
  const posted = await egress.request(`http://127.0.0.1:${origin.port}/`, { method: 'REPORT', body: 'mine' })
  assert.equal(Buffer.concat(await posted.body.toArray()).toString(), 'mine')
  assert.deepEqual(
    origin.asked.map((line) => line.split(' ')[0]),
    ['GET', 'REPORT'],
  )
  const alone = await egress.request(`http://127.0.0.1:${origin.port}/`, { own_connection: true })
  assert.equal(JSON.parse(String(alone.headers['x-seen'])).connection, 'close')
  alone.body.resume()
  await assert.rejects(egress.request(`https://localhost:${secured.port}/`), /self-signed|certificate/)
  await using trusting = await openEgress(loopback, cert)
  const trusted = await trusting.request(`https://localhost:${secured.port}/`)
  assert.equal(Buffer.concat(await trusted.body.toArray()).toString(), 'secret')
})

test('a request of our own is given up when nothing comes, and when its signal says so', async () => {
  await using silent = await listening(createServer(() => {}))
  await using egress = await openEgress(loopback)
  const url = `http://127.0.0.1:${silent.port}/`
  await assert.rejects(egress.request(url, { patience: 50 }), { code: 'UND_ERR_HEADERS_TIMEOUT' })
  await assert.rejects(egress.request(url, { signal: AbortSignal.timeout(20) }), { name: 'TimeoutError' })
})

test('bytes go both ways by CONNECT, by a tunnel and by a connection of our own, until the egress is closed', async () => {
  await using echo = await listening(
    createPlainServer({ allowHalfOpen: true }, (socket) => void socket.on('error', () => {}).pipe(socket)),
  )
  const egress = await openEgress(loopback)
  const port = await egress.tunnel('127.0.0.1', echo.port)
  const { socket } = await ask(egress, `127.0.0.1:${echo.port}`, { method: 'CONNECT' })
  const tunnelled = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  for (const each of [socket, tunnelled, await egress.connect('127.0.0.1', echo.port)]) {
    each.end(Buffer.alloc(1_000_000, 'y'))
    assert.equal(Buffer.concat(await each.toArray()).length, 1_000_000)
  }
  const left = connect({ port, host: '127.0.0.1' }).on('error', () => {})
  left.write('z')
  await once(left, 'data')
  const own = await egress.connect('127.0.0.1', echo.port)
  await assert.rejects(egress.connect('10.0.0.1', echo.port), { code: 'FORBIDDEN_ADDRESS' })
  const closed = [left, own].map((each) => once(each, 'close'))
  await egress[Symbol.asyncDispose]()
  await Promise.all(closed)
  for (const gone of [port, egress.proxy.port]) {
    const [error] = await once(connect({ port: gone, host: '127.0.0.1' }), 'error').catch((failure) => [failure])
    assert.equal(error.code, 'ECONNREFUSED')
  }
})
