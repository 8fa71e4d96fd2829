import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorsOf, expect, openForge } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'

async function open() {
  const forge = await openForge({ settings: { BELFRY_PUBLIC_EVENTS_DELAY: '0' } })
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine', { description: 'Turns <b>' })
  await ada.owns('diary', { private: true })
  return Object.assign(forge, { ada, ben, guest: new Guest(forge) })
}

test('a profile shows who someone is', async () => {
  await using forge = await open()
  const { ada, guest } = forge
  const about = {
    name: 'Ada <L>',
    bio: 'Notes & more',
    blog: 'https://ada.example/?a&b',
    company: '"><script>',
    location: 'London',
  }
  await expect(200, await ada.patch('/user', about))
  const page = await guest.get('/ADA')
  assert.match(page.text, /<h1><bdi>Ada &lt;L&gt;<\/bdi><\/h1>/)
  assert.match(page.text, /Notes &amp; more/)
  assert.match(page.text, /<a href="https:\/\/ada\.example\/\?a&amp;b" rel="nofollow noreferrer">/)
  assert.match(page.text, /<link rel="alternate" type="application\/atom\+xml" href="\/ada\.atom">\s*<\/head>/)
  assert.ok(!page.text.includes('"><script>') && !page.text.includes('ada@example.com'))
  assert.equal(page.headers.get('vary'), 'Accept, Accept-Encoding')
  await expect(200, await ada.patch('/user', { blog: 'javascript:alert(1)' }))
  assert.match((await guest.get('/ada')).text, /<span>javascript:alert\(1\)<\/span>/)
  assert.equal((await guest.get('/helper%5Bbot%5D')).location, '/apps/helper')
  for (const query of ['tab=constructor', 'tab=%00', 'page=99', 'tab=stars&page=0', 'tab=repositories&page=9999999']) {
    assert.equal((await guest.get(`/ada?${query}`)).status, 200, query)
  }
  assert.deepEqual(errorsOf(forge), [])
})

test('contributions and activity in private are for those who may see the repository', async () => {
  await using forge = await open()
  const { ada, guest } = forge
  await expect(201, await ada.post('/repos/ada/engine/issues', { title: 'Smoke' }))
  await expect(201, await ada.post('/repos/ada/diary/issues', { title: 'Secret' }))
  const seen = await guest.get('/ada')
  assert.match(seen.text, /<h2>2 contributions in the last year<\/h2>/)
  assert.match(seen.text, /class="level-2"><title>2 contributions on \d+ \w+ 2026<\/title>/)
  assert.doesNotMatch(seen.text, /diary|Secret/)
  const own = await signedIn(forge, 'ada')
  const mine = await own.get('/ada')
  assert.match(mine.text, /<h2>4 contributions in the last year<\/h2>/)
  assert.match(mine.text, /opened issue[\s\S]*ada\/diary/)
  assert.match(mine.text, /href="\/settings\/profile"/)
  await expect(201, await ada.put('/repos/ada/diary/collaborators/ben'))
  const [{ id }] = await forge.ben.read('/user/repository_invitations')
  const other = await signedIn(forge, 'ben')
  assert.match((await other.get('/ada')).text, /<h2>2 contributions/)
  assert.equal((await forge.ben.patch(`/user/repository_invitations/${id}`)).status, 204)
  assert.match((await other.get('/ada')).text, /<h2>4 contributions/)
})

test('a year of days is shown, and nothing older', async () => {
  await using forge = await open()
  forge.clock.advance(200 * 86_400_000)
  await expect(201, await forge.ada.post('/repos/ada/engine/issues', { title: 'Later' }))
  const { text } = await forge.guest.get('/ada')
  assert.match(text, /<h2>2 contributions/)
  const days = text.match(/<rect y=/g)?.length ?? 0
  assert.ok(days > 364 && days <= 371, String(days))
  forge.clock.advance(300 * 86_400_000)
  assert.match((await forge.guest.get('/ada')).text, /<h2>1 contribution in/)
})

test('one user follows another on the page', async () => {
  await using forge = await open()
  const { ben, guest } = forge
  assert.match((await guest.get('/ada')).text, /href="\/login\?return_to=%2Fada"[^>]*aria-label="Follow ada"/)
  const visitor = await signedIn(forge, 'ben')
  assert.match((await visitor.get('/ada')).text, /action="\/users\/ada\/follow"/)
  assert.equal((await visitor.post('/users/ada/follow', { return_to: '/ada?tab=followers' })).location, '/ada?tab=followers')
  assert.equal((await ben.get('/user/following/ada')).status, 204)
  const page = await visitor.get('/ada?tab=followers')
  assert.match(page.text, /action="\/users\/ada\/unfollow"/)
  assert.match(page.text, /<strong>1<\/strong> follower</)
  assert.match((await guest.get('/ben?tab=following')).text, /href="\/ada"/)
  assert.equal((await visitor.post('/users/ada/unfollow', { return_to: 'https://evil.example' })).location, '/')
  assert.equal((await ben.get('/user/following/ada')).status, 404)
  assert.equal((await visitor.post('/users/ben/follow', {})).status, 422)
  for (const path of ['/users/nobody/follow', '/users/%00/follow']) assert.equal((await visitor.post(path, {})).status, 404)
  assert.match((await guest.fill('/login', {}, '/users/ada/follow')).location ?? '', /^\/login/)
  assert.match((await guest.get('/ada?tab=followers')).text, /ada has no followers yet/)
})

test('repositories and stars are those that the viewer may see', async () => {
  await using forge = await open()
  const { ben, ada, guest } = forge
  const repositories = (await guest.get('/ada?tab=repositories')).text
  assert.match(repositories, /Turns &lt;b&gt;/)
  assert.doesNotMatch(repositories, /diary|>New</)
  assert.match((await guest.get('/ada?tab=repositories&q=zzz')).text, /<strong>0<\/strong> repositories match/)
  const own = await signedIn(forge, 'ada')
  assert.match((await own.get('/ada?tab=repositories&type=private')).text, /diary/)
  assert.equal((await ben.put('/user/starred/ada/engine')).status, 204)
  assert.equal((await ada.put('/user/starred/ada/diary')).status, 204)
  assert.match((await guest.get('/ben?tab=stars')).text, /<strong>engine<\/strong>[\s\S]*Starred/)
  assert.match((await guest.get('/ada?tab=stars')).text, /ada has no stars yet/)
  assert.match((await own.get('/ada?tab=stars')).text, /diary/)
})

test('the page of an organization shows what the viewer may see', async () => {
  await using forge = await open()
  const { ada, guest } = forge
  await forge.organization('acme', ada)
  await expect(200, await ada.patch('/orgs/acme', { name: 'Acme <i>', description: 'Anvils', blog: 'https://acme.example' }))
  assert.match((await guest.get('/acme')).text, /There are no repositories that you can see/)
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'anvil' }))
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'plans', private: true }))
  const page = await guest.get('/acme')
  assert.match(page.text, /<h1>Acme &lt;i&gt;<\/h1>/)
  assert.match(page.text, /created a repository[\s\S]*acme\/anvil/)
  assert.match(page.text, /No member is public/)
  assert.match(page.text, /href="\/acme\.atom"/)
  assert.doesNotMatch(page.text, /plans|\/orgs\/acme\/teams|settings\/profile/)
  const own = await signedIn(forge, 'ada')
  assert.match((await own.get('/acme')).text, /plans[\s\S]*title="ada"/)
  await expect(200, await ada.patch('/user', { company: '@Acme' }))
  assert.match((await own.get('/ada')).text, /<a href="\/acme">@Acme<\/a>/)
  assert.doesNotMatch((await guest.get('/ada')).text, /href="\/acme"/, 'a private membership')
  const atom = await new Guest(forge, { accept: 'application/atom+xml' }).get('/acme')
  assert.match(atom.text, /^<\?xml/)
})
