import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { openForge } from '#test/forge.ts'

/** Sends raw bytes, reads until the server closes, and gives the status of every answer. */
function speak(base: string, bytes: string | Buffer): Promise<{ statuses: number[]; text: string }> {
  const { hostname, port } = new URL(base)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let text = ''
    socket.setTimeout(10_000, () => socket.destroy(new Error(`no end to the answer to ${bytes.toString().slice(0, 80)}`)))
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    // A peer that stops listening in the middle of a very long request is no fault.
    socket.on('error', (error: NodeJS.ErrnoException) =>
      ['EPIPE', 'ECONNRESET'].includes(error.code ?? '') ? finish() : reject(error),
    )
    socket.on('close', finish)
    function finish() {
      resolve({ statuses: [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map((match) => Number(match[1])), text })
    }
    // Left open on our side: a client that hangs up is not waiting for an answer.
    socket.write(bytes)
  })
}

const request = (line: string, headers: string[] = [], body = '') =>
  `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${body && `Content-Length: ${Buffer.byteLength(body)}\r\n`}${headers.map((each) => `${each}\r\n`).join('')}\r\n${body}`

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'PURGE', 'MKCOL']

const paths = [
  '/',
  '//',
  '/%',
  '/%zz',
  '/%00',
  '/%ff%fe',
  '/user/',
  '/user%2f',
  '/users/%00',
  '/users/%E0%A4%A',
  '/users/..%2f..%2fetc',
  '/users/../../etc/passwd',
  `/users/${'a'.repeat(3000)}`,
  '/repos/a',
  '/repos/a/b/c/d/e',
  '/repos/%00/%00',
  "/repos/'%20or%201=1/--",
  '/repositories/0',
  '/repositories/-1',
  '/repositories/99999999999999999999999',
  '/repositories/1e3',
  '/orgs/💥/teams/💥'.normalize(),
  '/?page=-1&per_page=NaN',
  '/users/admin/followers?page=99999999999999999999&per_page=0x10',
  '/users/admin/followers?page=%00&per_page[]=1&&&=',
  '/users/admin/repos?sort=%00&direction=drop%20table&page=2147483648',
]

const bodies = [
  '',
  '{',
  'null',
  'true',
  '0',
  '"text"',
  '[]',
  '[{}]',
  '{}',
  '{"name":null}',
  '{"name":1}',
  '{"name":"a\\u0000b"}',
  '{"name":"\\ud800"}',
  '{"name":{"$gt":""}}',
  '{"name":["x"]}',
  `{"name":"${'x'.repeat(70_000)}"}`,
  '{"__proto__":{"admin":true},"constructor":{"prototype":1},"name":"proto"}',
  `{"name":"deep","description":${'['.repeat(5000)}${']'.repeat(5000)}}`,
  '{"login":"\\u202e","email":"x","scopes":[{}],"new_owner":[],"role":7,"permission":"root"}',
  '\u0000\u0001\u0002',
  '\ufeff{"name":"bom"}',
  'name=form&private=true',
  '<xml/>',
]

const junkHeaders = [
  'Authorization: ',
  'Authorization: Bearer',
  'Authorization: Basic !!!',
  'Authorization: Basic AAAA',
  `Authorization: Basic ${Buffer.from('a\0b:c\0d').toString('base64')}`,
  `Authorization: Bearer ${'x'.repeat(8000)}`,
  'Authorization: Digest x y z',
  'Accept: ;;;,,,/',
  'Accept: \u00ff\u00fe',
  'Content-Type: ///;;;charset=\u00ff',
  'Content-Encoding: gzip',
  'If-None-Match: "',
  'If-Modified-Since: the day before yesterday',
  'X-Service-Api-Version: 9999',
  'X-Forwarded-For: nonsense, 1.2.3.4.5, ::::',
  'Expect: 200-ok',
  'Upgrade: websocket',
  'Range: bytes=9-1',
  'Cookie: =;;=',
]

test('junk in method, path, headers or body never yields a 5xx, nor HTML', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const authorization = `Authorization: Bearer ${ada.token}`
  const admin = `Authorization: Bearer ${forge.admin.token}`
  const bases = [`${forge.web}/api/v3`, forge.versioned]
  const writes: [string, string][] = [
    ['POST /user/repos', authorization],
    ['PATCH /repos/ada/engine', authorization],
    ['POST /repos/ada/engine/transfer', authorization],
    ['PUT /repos/ada/engine/collaborators/admin', authorization],
    ['PATCH /user', authorization],
    ['POST /admin/users', admin],
    ['POST /admin/organizations', admin],
    ['POST /admin/users/ada/authorizations', admin],
  ]
  const seen = new Set<number>()
  for (const base of bases) {
    const prefix = new URL(base).pathname.replace(/\/$/, '')
    const lines = [
      ...methods.flatMap((method) => paths.map((path) => request(`${method} ${prefix}${encodeNonAscii(path)}`))),
      ...junkHeaders.map((header) => request(`GET ${prefix}/user`, [header])),
      ...junkHeaders.map((header) => request(`POST ${prefix}/user/repos`, [authorization, header], '{"name":"x"}')),
      ...writes.flatMap(([line, header]) => bodies.map((body) => request(line.replace(' ', ` ${prefix}`), [header], body))),
    ]
    // Twenty at a time: enough to be quick, few enough to leave no test waiting.
    for (let at = 0; at < lines.length; at += 20) {
      await Promise.all(
        lines.slice(at, at + 20).map(async (line) => {
          const { statuses, text } = await speak(base, line)
          const shown = line.slice(0, 200)
          assert.ok(statuses.length > 0, `no answer to ${shown}`)
          for (const status of statuses) seen.add(status)
          assert.ok(
            statuses.every((status) => status < 500),
            `${shown}\n→ ${text.slice(0, 500)}`,
          )
          assert.doesNotMatch(text, /text\/html|<html/i, shown)
        }),
      )
    }
  }
  assert.deepEqual([...seen].sort(), [200, 201, 204, 400, 401, 404, 417, 422])
  assert.deepEqual(
    forge.logged.filter((line) => /"level":(50|60)/.test(line)),
    [],
  )
})

/** As a client would have to write it; the bytes are sent as they are otherwise. */
function encodeNonAscii(path: string) {
  return path.replaceAll(/[^\u0020-\u007e]+/gu, encodeURIComponent)
}

test('what is not even HTTP gets an answer in the documented shape, or a closed connection', async () => {
  await using forge = await openForge()
  const known = `Authorization: Bearer ${forge.admin.token}\r\n`
  const cases: [string | Buffer, number][] = [
    ['GARBAGE\r\n\r\n', 400],
    ['GET / HTTP/9.9\r\n\r\n', 400],
    ['POST /api/v3/user/repos HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n', 400],
    ['POST /api/v3/user/repos HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
    [`POST /api/v3/user/repos HTTP/1.1\r\nHost: x\r\n${known}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 400],
    [Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03]), 400],
    [`GET /${'x'.repeat(1024 * 1024)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    [`GET /api/v3/ HTTP/1.1\r\nHost: x\r\nX-Long: ${'y'.repeat(100_000)}\r\n\r\n`, 431],
  ]
  for (const [bytes, status] of cases) {
    const { statuses, text } = await speak(forge.web, bytes)
    assert.deepEqual(statuses.slice(-1), [status], bytes.toString().slice(0, 80))
    const body = JSON.parse(text.slice(text.lastIndexOf('\r\n\r\n')))
    assert.equal(body.status, String(status))
    assert.ok(body.message && body.documentation_url)
  }
})

test('a body beyond the limit is 413, and nothing changes', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  const answer = await ada.post('/user/repos', { name: 'x', description: 'y'.repeat(2 * 1024 * 1024) })
  assert.equal(answer.status, 413)
  assert.deepEqual(await ada.read('/user/repos'), [])
})
