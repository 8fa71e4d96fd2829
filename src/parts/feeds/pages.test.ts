import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, openForge } from '#test/forge.ts'
import { Guest, signedIn, withoutSignIn } from '#test/guest.ts'

test('pages of accounts hide no other page, and an unknown login is 404', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const guest = new Guest(forge)
  const there: [string, RegExp][] = [
    ['/', /Public activity/],
    ['/login', /<h1>Sign in<\/h1>/],
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

test('a user’s page shows their profile and public activity', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await expect(200, await ada.patch('/user', { name: 'Ada <L>', bio: 'Notes & more', blog: 'https://ada.example/?a&b' }))
  await ada.owns('engine')
  await ada.owns('diary', { private: true })
  const visitor = await signedIn(forge, 'ada')
  const page = await visitor.get('/ADA')
  assert.match(page.text, /Ada &lt;L&gt;<\/h1><p>Notes &amp; more<\/p>/)
  assert.match(page.text, /<a href="https:\/\/ada\.example\/\?a&amp;b" rel="nofollow noreferrer">/)
  assert.match(page.text, /<link rel="alternate" type="application\/atom\+xml" href="\/ada\.atom">\s*<\/head>/)
  assert.match(page.text, /created a repository <a href="[^"]*\/ada\/engine">ada\/engine<\/a>/)
  assert.ok(!page.text.includes('diary'), 'the page is the same for everyone')
  assert.match(page.text, /Sign out/)
  assert.equal(page.headers.get('vary'), 'Accept')
  await expect(200, await ada.patch('/user', { blog: 'javascript:alert(1)' }))
  assert.match((await visitor.get('/ada')).text, /· javascript:alert\(1\) ·/)
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
