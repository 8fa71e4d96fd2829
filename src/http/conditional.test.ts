import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pool } from 'undici'
import { openForge } from '#test/forge.ts'
import { isUnchanged, lastModifiedOf } from './conditional.ts'

test('a GET with the ETag it gave is 304 with no body, on both variants', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  for (const client of [ada, ada.versioned]) {
    const first = await client.get('/repos/ada/engine')
    const etag = first.headers.get('etag') ?? ''
    assert.match(etag, /^"[0-9a-f]+"$/)
    for (const asked of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await client.with({ 'if-none-match': asked }).get('/repos/ada/engine')
      assert.equal(again.status, 304, asked)
      assert.equal(await again.text(), '')
      assert.equal(again.headers.get('etag'), etag)
      assert.equal(again.headers.get('content-type'), null)
    }
    for (const asked of ['"other"', etag.replaceAll('"', ''), '']) {
      assert.equal((await client.with({ 'if-none-match': asked }).get('/repos/ada/engine')).status, 200, asked)
    }
  }
})

test('a change gives another ETag, and writes are never 304', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const etag = (await ada.get('/repos/ada/engine')).headers.get('etag') ?? ''
  const written = await ada.with({ 'if-none-match': '*' }).patch('/repos/ada/engine', { description: 'new' })
  assert.equal(written.status, 200)
  assert.equal((await ada.with({ 'if-none-match': etag }).get('/repos/ada/engine')).status, 200)
})

test('If-Modified-Since is answered by date, and not looked at beside If-None-Match', async () => {
  await using forge = await openForge()
  forge.clock.advance(5000)
  const first = await forge.nobody.get('/')
  const date = first.headers.get('last-modified') ?? ''
  assert.equal((await forge.nobody.with({ 'if-modified-since': date }).get('/')).status, 304)
  const earlier = new Date(Date.parse(date) - 1000).toUTCString()
  assert.equal((await forge.nobody.with({ 'if-modified-since': earlier }).get('/')).status, 200)
  assert.equal((await forge.nobody.with({ 'if-modified-since': 'junk' }).get('/')).status, 200)
  assert.equal((await forge.nobody.with({ 'if-modified-since': date, 'if-none-match': '"other"' }).get('/')).status, 200)
})

test('a 304 of the root document has the headers of its caller, in any order of callers', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada', ['repo'])
  const bob = await forge.person('bob', ['gist', 'user'])
  const etag = (await forge.nobody.get('/')).headers.get('etag') ?? ''
  for (const round of [1, 2]) {
    for (const [client, scopes, cache] of [
      [forge.nobody, null, 'public'],
      [ada, 'repo', 'private'],
      [bob, 'gist, user', 'private'],
    ] as const) {
      const { status, headers } = await client.with({ 'if-none-match': etag }).get('/')
      assert.deepEqual([status, headers.get('x-oauth-scopes'), headers.get('etag')], [304, scopes, etag], `round ${round}`)
      assert.match(headers.get('cache-control') ?? '', new RegExp(cache))
      assert.ok(headers.get('last-modified'))
    }
  }
})

test('a response from the cache has the headers of the first, and each token its own, on one connection', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada', ['user'])
  const bob = await forge.person('bob', ['repo'])
  const connection = new Pool(forge.web, { connections: 1, pipelining: 1 })
  await using _ = { [Symbol.asyncDispose]: () => connection.destroy() }
  const ask = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    const { statusCode, headers: sent, body } = await connection.request({ method: 'GET', path: '/api/v3/user', headers })
    const { date, 'x-service-request-id': id, ...same } = sent
    return { id, same: { statusCode, ...same, text: await body.text() } }
  }
  const [first, other] = [await ask(ada.token), await ask(bob.token)]
  assert.match(first.same.text, /"login":"ada"/)
  assert.match(other.same.text, /"login":"bob"/)
  const ids = new Set([first.id, other.id])
  for (let round = 0; round < 3; round++) {
    for (const [token, { same }] of [
      [ada.token, first],
      [bob.token, other],
    ] as const) {
      const again = await ask(token)
      assert.deepEqual(again.same, same)
      ids.add(again.id)
    }
  }
  assert.equal(ids.size, 8, 'every response has an id of its own')
})

test('the date that was sent is 304 at once, also in the very second of the change', async () => {
  await using forge = await openForge()
  const date = (await forge.nobody.get('/')).headers.get('last-modified') ?? ''
  assert.equal((await forge.nobody.with({ 'if-modified-since': date }).get('/')).status, 304)
})

const at = (second: string) => new Date(`2026-01-01T00:00:${second}Z`)
const asked = (second: string) => ({ 'if-modified-since': at(second).toUTCString() })

test('a date that belongs to one version is sent as it is, and never before it has come', () => {
  const version = { changed_at: at('10.800'), last_modified: at('11'), found: false }
  assert.equal(lastModifiedOf(version, at('10.900')), 'Thu, 01 Jan 2026 00:00:10 GMT')
  assert.equal(lastModifiedOf(version, at('11.000')), 'Thu, 01 Jan 2026 00:00:11 GMT')
  assert.equal(isUnchanged(asked('10'), version), false)
  assert.equal(isUnchanged(asked('11'), version), true)
})

test("a client's own date proves nothing within the second of a change, nor before it", () => {
  const version = { changed_at: at('10.200'), last_modified: at('03'), found: false }
  for (const second of ['02', '04', '09', '10']) assert.equal(isUnchanged(asked(second), version), false, second)
  for (const second of ['03', '11', '59']) assert.equal(isUnchanged(asked(second), version), true, second)
  assert.equal(isUnchanged(asked('59'), { ...version, found: true }), false, 'nobody has what was found just now')
})

test('HEAD answers every GET with its headers and no body', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  for (const path of ['/', '/user', '/users/ada', '/repos/ada/engine', '/user/repos', '/openapi.json']) {
    const [whole, head] = [await ada.get(path), await ada.head(path)]
    assert.equal(head.status, whole.status, path)
    assert.equal(await head.text(), '')
    for (const name of ['content-type', 'etag', 'content-length'])
      assert.equal(head.headers.get(name), whole.headers.get(name), `${path} ${name}`)
  }
  assert.equal((await ada.head('/nothing')).status, 404)
})
