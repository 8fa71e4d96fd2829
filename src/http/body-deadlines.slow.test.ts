import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, injecting, openForge } from '#test/forge.ts'

/** A client may stall for a second. */
const inject = injecting(async () => {
  const forge = await openForge({ settings: { BELFRY_GIT_IDLE: '1' } })
  const ada = await forge.person('ada')
  await ada.owns('engine')
  return Object.assign(forge, { ada })
})

/** Sends a part of a request every 50 ms until the server closes the connection. Returns the answer. */
async function drip(web: string, begin: string, part = '1') {
  const { hostname, port } = new URL(web)
  const socket = connect(Number(port), hostname).setEncoding('utf8')
  // Not `once` of node:events, which rejects when the server resets the connection.
  const closed = new Promise((resolve) => socket.once('close', resolve))
  let answer = ''
  socket
    .on('error', () => {})
    .on('data', (text: string) => {
      answer += text
    })
  socket.write(begin)
  const timer = setInterval(() => socket.write(part), 50)
  await closed
  clearInterval(timer)
  return answer
}

const post = (path: string, headers: string) => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 10000\r\n${headers}\r\n`

test('headers that do not end are refused', inject(async ({ web }) => {
  assert.match(await drip(web, 'GET / HTTP/1.1\r\nX-', 'a'), /^HTTP\/1\.1 408 [\s\S]*too long to arrive/)
}))

test('a body that arrives byte by byte is refused', inject(async ({ web, ada }) => {
  const authorization = `Authorization: Bearer ${ada.token}\r\n`
  const paths = ['/api/v3/user/repos', '/login', '/login/oauth/access_token', '/ada/engine.git/info/lfs/objects/batch']
  const form = 'Content-Type: application/x-www-form-urlencoded\r\n'
  const answers = await Promise.all(paths.map((path) => drip(web, post(path, `${authorization}${form}`))))
  assert.deepEqual(
    answers.map((answer) => answer.slice(9, 12)),
    paths.map(() => '408'),
  )
}))

test('the rest of the body of a refused request does not keep the connection', inject(async ({ web }) => {
  const answer = await drip(web, post('/api/v3/user/repos', ''))
  assert.match(answer, /^HTTP\/1\.1 401 /)
}))

test('an upload that makes progress may take any time', inject(async ({ web, ada }) => {
  const chunk = Buffer.alloc(4096, 'a')
  const count = 30
  const oid = createHash('sha256')
    .update(Buffer.alloc(chunk.length * count, 'a'))
    .digest('hex')
  async function* content() {
    for (let sent = 0; sent < count; sent++) {
      yield chunk
      await sleep(100)
    }
  }
  const answer = await fetch(`${web}/ada/engine.git/info/lfs/objects/${oid}`, {
    method: 'PUT',
    headers: { authorization: `Basic ${btoa(`ada:${ada.token}`)}`, 'content-length': String(chunk.length * count) },
    body: content(),
    duplex: 'half',
  } as unknown as RequestInit)
  assert.equal(answer.status, 200, await answer.text())
  await expect(200, await ada.get('/repos/ada/engine'))
}))
