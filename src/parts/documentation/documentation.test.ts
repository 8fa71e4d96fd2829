import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openForge } from '#test/forge.ts'
import { Guest } from '#test/guest.ts'

test('every group and every operation has an address, and a search needs no script', async () => {
  await using forge = await openForge()
  const guest = new Guest(forge)
  const { text } = await guest.get('/docs')
  const groups = [...new Set([...text.matchAll(/href="(\/docs\/[a-z-]+)"/g)].map(([, path = '']) => path))]
  assert.ok(groups.length > 60)
  const found: string[] = []
  for (const path of groups) {
    const shown = await guest.get(path)
    assert.equal(shown.status, 200, path)
    assert.doesNotMatch(shown.text, /undefined|\[object Object\]|NaN/, path)
    found.push(...[...shown.text.matchAll(/<section class="operation" id="([^"]+)"/g)].map(([, id = '']) => id))
  }
  const served = Object.values(
    (await forge.nobodyVersioned.read('/openapi.json')).paths as Record<string, Record<string, { operationId: string }>>,
  )
  const ids = served.flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
  assert.deepEqual(found.sort(), ids.sort())
  assert.equal((await guest.get('/docs/operations/issues/create')).location, '/docs/issues#issues/create')
  const list = (await guest.get('/docs?q=STAR+put')).text
  assert.match(list, /2 operations for/)
  assert.match(list, /href="\/docs\/starring#activity\/star-repo-for-authenticated-user"/)
  assert.match((await guest.get('/docs?q=no+such+thing')).text, /No operation has all words/)
  const hostile = '"><img src=x onerror=alert(1)>'
  assert.doesNotMatch((await guest.get(`/docs?q=${encodeURIComponent(hostile)}`)).text, /<img src=x/)
  for (const path of ['/docs/none', '/docs/operations/none/none', `/docs/${encodeURIComponent(hostile)}`])
    assert.equal((await guest.get(path)).status, 404, path)
})

test('every account has a picture', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  const { avatar_url } = await ada.read('/user')
  const answer = await fetch(avatar_url)
  assert.equal(answer.headers.get('content-type'), 'image/svg+xml')
  assert.match(await answer.text(), /^<svg .*<\/svg>$/)
  assert.equal((await fetch(`${forge.web}/avatars/none`)).status, 404)
})
