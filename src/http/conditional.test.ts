import assert from 'node:assert/strict'
import { test } from 'node:test'
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

test('a date sent within the second of a change is the second before: another change may follow', () => {
  const change = new Date('2026-01-01T00:00:10.200Z')
  assert.equal(lastModifiedOf(change, new Date('2026-01-01T00:00:10.900Z')), 'Thu, 01 Jan 2026 00:00:09 GMT')
  assert.equal(lastModifiedOf(change, new Date('2026-01-01T00:00:11.000Z')), 'Thu, 01 Jan 2026 00:00:10 GMT')
  const asked = { 'if-modified-since': 'Thu, 01 Jan 2026 00:00:09 GMT' }
  assert.equal(isUnchanged(asked, new Date('2026-01-01T00:00:10.800Z'), new Date('2026-01-01T00:00:12Z')), false)
})

test('within the second of a change nobody is told that there was none, though the date is that of the change before', () => {
  const asked = { 'if-modified-since': 'Thu, 01 Jan 2026 00:00:10 GMT' }
  assert.equal(isUnchanged(asked, new Date('2026-01-01T00:00:10.500Z'), new Date('2026-01-01T00:00:11.100Z')), true)
  assert.equal(isUnchanged(asked, new Date('2026-01-01T00:00:11.200Z'), new Date('2026-01-01T00:00:11.300Z')), false)
  assert.equal(isUnchanged(asked, new Date('2026-01-01T00:00:11.200Z'), new Date('2026-01-01T00:00:12.000Z')), false)
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
