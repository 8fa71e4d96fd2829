import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byBasic, privateFeeds, subscribe } from '#test/feeds.ts'
import { expect, openForge, type Person } from '#test/forge.ts'
import { Octokit } from '#test/octokit.ts'
import { fillLog } from '#test/timelines.ts'

const type = 'application/atom+xml'
const atom = { accept: type }

/** Ada has a public repository `engine` and a private `diary`; Ben follows her. The public timeline has no delay. */
async function openFeeds() {
  const forge = await openForge({ settings: { BELFRY_PUBLIC_EVENTS_DELAY: '0' } })
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await forge.organization('acme', ada)
  await ada.owns('engine')
  await ada.owns('diary', { private: true })
  assert.equal((await ben.put('/user/following/ada')).status, 204)
  return Object.assign(forge, { ada, ben })
}

const star = async (who: Person, repo: string) => assert.equal((await who.put(`/user/starred/${repo}`)).status, 204)

test('the list of feeds adds the public feed for a token, and private feeds for Basic authentication', async () => {
  await using forge = await openFeeds()
  const { ada, web } = forge
  const everyones = { timeline_url: `${web}/timeline`, user_url: `${web}/{user}` }
  const links = { timeline: { href: `${web}/timeline`, type }, user: { href: `${web}/{user}`, type } }
  assert.deepEqual(await forge.nobody.read('/feeds'), { ...everyones, _links: [links] })
  const named = { ...everyones, current_user_public_url: `${web}/ada` }
  const namedLinks = { ...links, current_user_public: { href: `${web}/ada`, type } }
  assert.deepEqual(await ada.read('/feeds'), { ...named, _links: [namedLinks] })
  const { token } = await privateFeeds(forge, ada)
  assert.match(token, /^bfd_\w{36}$/)
  const full = {
    ...named,
    current_user_url: `${web}/ada.private?token=${token}`,
    current_user_actor_url: `${web}/ada.private.actor?token=${token}`,
    current_user_organization_url: `${web}/organizations/acme/ada.private.atom?token=${token}`,
    current_user_organization_urls: [`${web}/organizations/acme/ada.private.atom?token=${token}`],
  }
  const fullLinks = {
    ...namedLinks,
    current_user: { href: full.current_user_url, type },
    current_user_actor: { href: full.current_user_actor_url, type },
    current_user_organization: { href: full.current_user_organization_url, type },
    current_user_organizations: [{ href: full.current_user_organization_urls[0], type }],
  }
  for (const base of [`${web}/api/v3`, forge.versioned]) {
    for (const password of [ada.token, "ada's password"]) {
      const basic = byBasic(forge, ada, password, base)
      assert.deepEqual(await basic.read('/feeds'), { ...full, _links: [fullLinks] })
      const github = basic.with({ accept: 'application/vnd.github+json' })
      assert.deepEqual(await github.read('/feeds'), { ...full, _links: fullLinks })
    }
    const github = ada.with({ accept: 'application/vnd.github+json' })
    assert.deepEqual(await github.read('/feeds'), { ...named, _links: namedLinks })
    const { data } = await new Octokit({ auth: ada.token, baseUrl: base }).rest.activity.getFeeds()
    assert.equal(data._links.current_user_public?.href, `${web}/ada`)
  }
  const { token: bens } = await privateFeeds(forge, forge.ben)
  assert.notEqual(bens, token)
})

test('a token without the scope repo gets no private feeds, even by Basic authentication', async () => {
  await using forge = await openFeeds()
  for (const scopes of [[], ['public_repo', 'user', 'notifications'], ['read:org']]) {
    const listed = await byBasic(forge, await forge.tokenFor('ada', scopes)).read('/feeds')
    assert.deepEqual(Object.keys(listed).sort(), ['_links', 'current_user_public_url', 'timeline_url', 'user_url'])
  }
  const repo = await byBasic(forge, await forge.tokenFor('ada', ['repo'])).read('/feeds')
  assert.deepEqual(repo.current_user_organization_urls, [], 'a private membership needs the scope read:org')
  assert.equal(repo.current_user_organization_url, '')
  assert.deepEqual(repo._links[0].current_user_organization, { href: '', type: '' })
  assert.ok(repo.current_user_url)
  await expect(401, await byBasic(forge, forge.ada, 'a wrong password').get('/feeds'))
})

test('every listed feed is Atom, by its suffix and by the Accept header', async () => {
  await using forge = await openFeeds()
  const listed = await byBasic(forge, forge.ada).read('/feeds')
  const addresses: [string, string][] = [
    [listed.timeline_url, '/timeline'],
    [listed.user_url.replace('{user}', 'ada'), '/ada'],
    [listed.user_url.replace('{user}', 'acme'), '/acme'],
    [listed.current_user_public_url, '/ada'],
    [listed.current_user_url, '/ada.private'],
    [listed.current_user_actor_url, '/ada.private.actor'],
    [listed.current_user_organization_urls[0], '/organizations/acme/ada.private'],
  ]
  for (const [address, path] of addresses) {
    const bare = address.replace('.atom', '')
    const suffixed = bare.replace(/(?=\?|$)/, '.atom')
    const both = [await subscribe(suffixed), await subscribe(bare, atom)]
    assert.equal(both[0]?.text, both[1]?.text)
    for (const { feed, id } of both) {
      assert.equal(id, `tag:127.0.0.1,2008:${path}`)
      assert.equal(feed.self, suffixed)
      assert.equal((await fetch(feed.url ?? '')).status, 200, 'the HTML page exists')
    }
  }
  const cased = await subscribe(listed.current_user_url.replace('/ada.', '/ADA.'))
  assert.equal(cased.feed.self, listed.current_user_url.replace('?', '.atom?'), 'logins are not case-sensitive')
})

test('a client that prefers HTML gets a page; private feeds are always Atom', async () => {
  await using forge = await openFeeds()
  const { received } = await privateFeeds(forge, forge.ada)
  const typeOf = async (url: string, accept: string) => (await fetch(url, { headers: { accept } })).headers.get('content-type')
  for (const path of ['/timeline', '/ada', '/acme']) {
    for (const accept of [
      '*/*',
      'text/html,application/xhtml+xml,*/*;q=0.8',
      `${type};q=0`,
      `text/html, ${type};q=0.5`,
      ';;,=',
    ]) {
      assert.equal(await typeOf(forge.web + path, accept), 'text/html; charset=utf-8', accept)
    }
    for (const accept of [type, `${type}, text/html;q=0.9`, `application/rss+xml, Application/Atom+XML;q=0.4, */*;q=0.1`]) {
      assert.equal(await typeOf(forge.web + path, accept), `${type}; charset=utf-8`, accept)
    }
  }
  for (const accept of ['*/*', 'text/html']) assert.equal(await typeOf(received, accept), `${type}; charset=utf-8`)
})

test('a feed has the entries of its timeline; a public feed has no private ones', async () => {
  await using forge = await openFeeds()
  const { ada, ben, web } = forge
  await star(ben, 'ada/engine')
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'anvil', private: true }))
  await expect(202, await ben.post('/repos/ada/engine/forks'))
  const titles = async (url: string) => (await subscribe(url)).titles
  const made = 'ada created a repository ada/engine'
  const [starred, forked] = ['ben starred ada/engine', 'ben forked ada/engine to ben/engine']
  const [diary, anvil] = ['ada created a repository ada/diary', 'ada created a repository acme/anvil']
  assert.deepEqual(await titles(`${web}/timeline.atom`), [forked, starred, made])
  assert.deepEqual(await titles(`${web}/ada.atom`), [made])
  assert.deepEqual(await titles(`${web}/ben.atom`), [forked, starred])
  assert.deepEqual(await titles(`${web}/acme.atom`), [])
  const adas = await privateFeeds(forge, ada)
  assert.deepEqual(await titles(adas.received), [forked, anvil, starred, diary, made])
  assert.deepEqual(await titles(adas.actor), [anvil, diary, made])
  assert.deepEqual(await titles(adas.organizations[0] ?? ''), [anvil])
  const bens = await privateFeeds(forge, ben)
  assert.deepEqual(await titles(bens.received), [made])
  assert.deepEqual(await titles(bens.actor), [forked, starred])
  for (const path of ['/timeline', '/ada', '/acme']) assert.ok(!/diary|anvil/.test(await (await fetch(web + path)).text()))
})

test('a user who loses access to a private repository no longer sees it in feeds', async () => {
  await using forge = await openFeeds()
  const { ada, ben } = forge
  const { id } = await expect(201, await ada.put('/repos/ada/diary/collaborators/ben'))
  assert.equal((await ben.patch(`/user/repository_invitations/${id}`)).status, 204)
  const { received } = await privateFeeds(forge, ben)
  const before = await subscribe(received)
  assert.ok(before.titles.includes('ada created a repository ada/diary'))
  assert.equal((await ada.delete('/repos/ada/diary/collaborators/ben')).status, 204)
  const etag = before.answer.headers.get('etag') ?? ''
  const after = await subscribe(received, { 'if-none-match': etag })
  assert.ok(!after.text.includes('diary'))
  assert.deepEqual(after.titles, ['ada created a repository ada/engine'])
})

test('the dashboard feed of an organization ends with the membership', async () => {
  await using forge = await openFeeds()
  await expect(200, await forge.ada.put('/orgs/acme/memberships/ben', { role: 'member' }))
  const [url = ''] = (await privateFeeds(forge, forge.ben)).organizations
  assert.equal((await fetch(url)).status, 200)
  assert.equal((await forge.ada.delete('/orgs/acme/memberships/ben')).status, 204)
  assert.equal((await fetch(url)).status, 404)
  assert.deepEqual((await privateFeeds(forge, forge.ben)).organizations, [])
})

test('the public feed has the delay of the API, and goes back 90 days', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const entries = async (path: string) => (await subscribe(forge.web + path)).titles.length
  const empty = await subscribe(`${forge.web}/timeline.atom`)
  assert.equal(empty.feed.updated, '2026-02-03T04:05:06.000Z', 'the day of the first account')
  forge.clock.advance(299_000)
  assert.equal(await entries('/timeline.atom'), 0)
  assert.equal((await subscribe(`${forge.web}/timeline.atom`)).text, empty.text, 'what is empty does not change')
  assert.equal(await entries('/ada.atom'), 1)
  forge.clock.advance(1000)
  assert.equal(await entries('/timeline.atom'), 1)
  forge.clock.advance(90 * 86_400_000)
  assert.equal(await entries('/timeline.atom'), 0)
  assert.equal(await entries('/ada.atom'), 0)
})

test('a feed has the last 30 entries', async () => {
  await using forge = await openFeeds()
  const { id, owner } = await forge.ada.read('/repos/ada/engine')
  await fillLog(forge, id, owner.id, 30)
  await forge.ada.owns('mill')
  const { titles } = await subscribe(`${forge.web}/ada.atom`)
  assert.deepEqual([titles.length, titles[0]], [30, 'ada created a repository ada/mill'])
})
