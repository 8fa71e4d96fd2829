import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openForge } from '#test/forge.ts'
import { Guest, withoutSignIn } from '#test/guest.ts'

test('pages of accounts hide no other page, and an unknown login is 404', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const guest = new Guest(forge)
  const there: [string, RegExp][] = [
    ['/', /Public activity/],
    ['/login', /<h1>Sign in to Belfry<\/h1>/],
    ['/signup', /Make an account/],
    ['/docs', /API reference/],
    ['/healthz', /ok|\{/],
    ['/assets/belfry.css', /:root/],
    ['/timeline', /What happens in public/],
    ['/api/v3/feeds', /timeline_url/],
  ]
  for (const [path, text] of there) {
    const page = await guest.get(path)
    assert.equal(page.status, 200, path)
    assert.match(page.text, text)
  }
  assert.equal((await guest.get('/settings/profile')).status, 303)
  const nowhere = withoutSignIn((await guest.get('/a/b/c')).text)
  assert.match(nowhere, /There is no such page/)
  const unknown = ['/ghost', '/ghost.atom', '/assets', '/organizations', '/organizations/acme', '/favicon.ico', '/ada.json']
  for (const path of [...unknown, '/%00', "/'--", '/💥', '/ada/', `/${'a'.repeat(200)}`, '/Timeline']) {
    const page = await guest.get(path)
    assert.equal(page.status, 404, path)
    assert.equal(withoutSignIn(page.text), nowhere, path)
  }
  assert.equal((await guest.post('/ada', {})).status, 404)
})

test('a public feed may be cached for a minute, and sets no cookie', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  for (const path of ['/timeline.atom', '/ada.atom', '/ada.atom?token=bfd_nonsense']) {
    const { status, headers, text } = await new Guest(forge).get(path)
    assert.equal(status, 200)
    assert.equal(headers.get('cache-control'), 'public, max-age=60, s-maxage=60')
    assert.equal(headers.get('set-cookie'), null)
    assert.ok(!text.includes('bfd_'))
  }
})
