import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { sql } from '#platform/database.ts'
import { randomText } from '#platform/secrets.ts'
import { byBasic, privateFeeds, subscribe } from '#test/feeds.ts'
import { Client, expect, openForge } from '#test/forge.ts'
import { makeToken, signedIn, withoutSignIn } from '#test/guest.ts'

/** Ada has a private repository `diary`. */
async function openDiary() {
  const forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('diary', { private: true })
  return Object.assign(forge, { ada })
}

const statusOf = async (url: string) => (await fetch(url)).status

test('the permanent token never changes, not even with the password', async () => {
  await using forge = await openDiary()
  const { token, received } = await privateFeeds(forge, forge.ada)
  const [, body = '', check = ''] = /^bfd_(\w{30})(\w{6})$/.exec(token) ?? []
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  const read = [...check].reduce((number, digit) => number * 62 + digits.indexOf(digit), 0)
  assert.equal(read, crc32(body), 'scanners recognise it as they do every other token')
  const ada = await signedIn(forge, 'ada')
  const changed = { current: "ada's password", password: 'difference engine' }
  const { status, text } = await ada.fillAndFollow('/settings/security', changed, '/settings/security/password')
  assert.ok(status < 400, text)
  await expect(401, await byBasic(forge, forge.ada, "ada's password").get('/feeds'))
  const listed = await byBasic(forge, forge.ada, 'difference engine').read('/feeds')
  assert.equal(listed.current_user_url, received)
  assert.equal(await statusOf(received), 200)
  const kept = await forge.belfry.db.rows(sql`select from feed_keys`)
  assert.equal(kept.length, 0, 'it is stored nowhere')
  assert.equal((await privateFeeds(forge, forge.ada)).token, token)
})

test('a feed token opens feeds and nothing else', async () => {
  await using forge = await openDiary()
  const { token } = await privateFeeds(forge, forge.ada)
  const made = await expect(201, await forge.ada.post('/user/feed_keys', { name: 'reader' }))
  for (const feed of [token, made.token]) {
    const pair = (name: string, password: string) => `Basic ${btoa(`${name}:${password}`)}`
    const shown = [
      `Bearer ${feed}`,
      `token ${feed}`,
      pair('ada', feed),
      pair(feed, ''),
      pair(feed, 'x-oauth-basic'),
      pair('', feed),
    ]
    for (const authorization of shown) {
      for (const base of [`${forge.web}/api/v3`, forge.versioned]) {
        for (const path of ['/user', '/feeds', '/events', '/users/ada/events', '/user/feed_keys', '/repos/ada/diary']) {
          await expect(401, await new Client(base, { authorization }).get(path))
        }
      }
      const git = `${forge.web}/ada/diary.git/info/refs?service=git-upload-pack`
      assert.notEqual((await fetch(git, { headers: { authorization } })).status, 200)
    }
    for (const query of ['token', 'access_token']) {
      await expect(404, await forge.nobody.get(`/repos/ada/diary?${query}=${feed}`))
      await expect(401, await forge.nobody.get(`/user?${query}=${feed}`))
    }
  }
})

test('a wrong token gets the same response as an account that does not exist', async () => {
  await using forge = await openDiary()
  const { ada, web } = forge
  const eve = await forge.person('eve')
  await forge.organization('acme', ada)
  const { token } = await privateFeeds(forge, ada)
  const { token: eves } = await privateFeeds(forge, eve)
  const key = await expect(201, await eve.post('/user/feed_keys', { name: 'mine' }))
  const other = token.at(-1) === 'a' ? 'b' : 'a'
  const tokens = [
    eves,
    key.token,
    ada.token,
    token.slice(0, -1),
    `${token.slice(0, -1)}${other}`,
    `${token}a`,
    token.toUpperCase(),
  ]
  const queries = [...tokens, `bfd_${randomText(36)}`, '', '%00', 'null', '%F0%9F%94%94', "'--", 'a'.repeat(10_000)].map(
    (t) => `?token=${t}`,
  )
  const textOf = async (answer: Response) => withoutSignIn(await answer.text())
  const nowhere = await textOf(await fetch(`${web}/ghost.private?token=${token}`))
  assert.ok(!nowhere.includes(token))
  const paths = ['/ada.private', '/ada.private.actor', '/organizations/acme/ada.private']
  for (const path of paths.flatMap((each) => [each, `${each}.atom`])) {
    assert.equal(await statusOf(`${web}${path}?token=${token}`), 200)
    for (const query of [...queries, '', '?', `?Token=${token}`, `?token=x&token=${token}`, `?token[]=${token}`]) {
      const answer = await fetch(`${web}${path}${query}`, { headers: { accept: 'application/atom+xml' } })
      assert.equal(answer.status, 404, `${path}${query}`)
      assert.equal(await textOf(answer), nowhere)
    }
  }
  const others = ['/acme.private', '/ghost.private', '/organizations/acme/eve.private', '/organizations/ada/ada.private']
  const junk = [
    '/ada.private.actor.private',
    '/ada.public',
    '/.private',
    '/ada.atom.atom',
    '/organizations/acme/ada.private.actor',
  ]
  const odd = ['/organizations/acme/ada', '/organizations/%00/ada.private', '/ada%00.private', "/'--.private", '/ada.private/']
  for (const path of [...others, ...junk, ...odd]) assert.equal(await statusOf(`${web}${path}?token=${token}`), 404, path)
  assert.equal((await forge.admin.put('/users/ada/suspended')).status, 204)
  for (const path of [...paths, '/ada', '/ada.atom']) assert.equal(await statusOf(`${web}${path}?token=${token}`), 404, path)
})

test('private feeds are cached by the reader only, and their URLs are not sent as referrers', async () => {
  await using forge = await openDiary()
  const { received, token } = await privateFeeds(forge, forge.ada)
  const { answer, feed } = await subscribe(received)
  assert.equal(answer.headers.get('cache-control'), 'private, no-cache')
  assert.equal(answer.headers.get('referrer-policy'), 'no-referrer')
  assert.equal(feed.self, received.replace('?', '.atom?'), 'a reader that follows it comes back')
  const etag = answer.headers.get('etag') ?? ''
  assert.equal((await fetch(received, { headers: { 'if-none-match': etag } })).status, 304)
  for (const query of ['token', 'to%6ben', 'other', '_=1&token']) await statusOf(`${forge.web}/ada.private?${query}=${token}`)
  await statusOf(`${forge.web}/${token}`)
  const lines = forge.logged.filter((line) => line.includes('ada.private'))
  assert.ok(lines.length > 5)
  assert.ok(!forge.logged.some((line) => line.includes(token.slice(4, 20))))
})

test('a named key opens the same feeds, is shown once, and stops working when revoked', async () => {
  await using forge = await openDiary()
  const { ada, web } = forge
  await forge.organization('acme', ada)
  assert.deepEqual(await ada.read('/user/feed_keys'), [])
  const answer = await ada.post('/user/feed_keys', { name: ' Phone <3 ' })
  const made = await expect(201, answer)
  const { token, current_user_url, current_user_actor_url, current_user_organization_urls, ...key } = made
  assert.match(token, /^bfd_\w{36}$/)
  assert.deepEqual(key, {
    id: made.id,
    name: 'Phone <3',
    token_last_eight: token.slice(-8),
    created_at: '2026-02-03T04:05:06Z',
    last_used_at: null,
    url: `${web}/api/v3/user/feed_keys/${made.id}`,
  })
  assert.equal(answer.headers.get('location'), made.url)
  assert.deepEqual(await ada.read('/user/feed_keys'), [key])
  assert.deepEqual(await ada.read(`/user/feed_keys/${made.id}`), key)
  const urls = [current_user_url, current_user_actor_url, ...current_user_organization_urls]
  assert.equal(urls.length, 3)
  for (const url of urls) assert.ok((await subscribe(url)).feed.self?.endsWith(`?token=${token}`))
  assert.deepEqual((await subscribe(current_user_url)).titles, ['ada created a repository ada/diary'])
  const [stored] = await forge.belfry.db.rows(sql`select k::text as text from feed_keys k`)
  assert.ok(!stored?.text.includes(token.slice(4, 20)))
  assert.equal((await ada.delete(`/user/feed_keys/${made.id}`)).status, 204)
  for (const url of urls) assert.equal(await statusOf(url), 404)
  await expect(404, await ada.delete(`/user/feed_keys/${made.id}`))
  assert.deepEqual(await ada.read('/user/feed_keys'), [])
})

test('a key shows when it was last used, to the minute', async () => {
  await using forge = await openDiary()
  const made = await expect(201, await forge.ada.post('/user/feed_keys', { name: 'reader' }))
  const used = async () => (await forge.ada.read(`/user/feed_keys/${made.id}`)).last_used_at
  assert.equal(await statusOf(made.current_user_url), 200)
  assert.equal(await used(), '2026-02-03T04:05:06Z')
  forge.clock.advance(60_000)
  await statusOf(made.current_user_url)
  assert.equal(await used(), '2026-02-03T04:05:06Z')
  forge.clock.advance(1)
  await statusOf(made.current_user_url)
  assert.equal(await used(), '2026-02-03T04:06:06Z')
})

test('only the owner manages keys, with a token that has the scopes', async () => {
  await using forge = await openDiary()
  const { ada } = forge
  const eve = await forge.person('eve')
  const { id } = await expect(201, await ada.post('/user/feed_keys', { name: 'mine' }))
  await expect(404, await eve.get(`/user/feed_keys/${id}`))
  await expect(404, await eve.delete(`/user/feed_keys/${id}`))
  assert.deepEqual(await eve.read('/user/feed_keys'), [])
  await expect(401, await forge.nobody.get('/user/feed_keys'))
  const weak = await forge.tokenFor('ada', ['repo', 'read:user'])
  await expect(403, await weak.get('/user/feed_keys'))
  await expect(403, await weak.post('/user/feed_keys', { name: 'x' }))
  const blind = await forge.tokenFor('ada', ['user'])
  assert.equal((await blind.read('/user/feed_keys')).length, 1)
  const refused = await expect(403, await blind.post('/user/feed_keys', { name: 'sees more than its maker' }))
  assert.equal(refused.message, "Missing the 'repo' scope.")
  const fine = await makeToken(forge, await signedIn(forge, 'ada'), 'ada', '/settings/tokens/fine-grained', {})
  await expect(403, await fine.get('/user/feed_keys'))
  await expect(403, await fine.post('/user/feed_keys', { name: 'x' }))
  assert.equal((await byBasic(forge, fine).read('/feeds')).current_user_url, undefined)
  assert.equal((await ada.delete(`/user/feed_keys/${id}`)).status, 204)
})

test('a key needs a name, and a user has at most 50', async () => {
  await using forge = await openDiary()
  const { ada } = forge
  const make = (body: Record<string, unknown>) => ada.post('/user/feed_keys', body)
  for (const name of ['', '   ', 'x'.repeat(201), 1, null, {}, 'a\0b']) await expect(422, await make({ name }))
  await expect(422, await make({}))
  await expect(201, await make({ name: 'x'.repeat(200) }))
  const statuses = await Promise.all(Array.from({ length: 60 }, async (_, count) => (await make({ name: `${count}` })).status))
  assert.equal(statuses.filter((status) => status === 201).length, 49)
  assert.equal(statuses.filter((status) => status === 422).length, 11)
  assert.equal((await ada.read('/user/feed_keys?per_page=100')).length, 50)
  assert.equal((await ada.read('/user/feed_keys?per_page=20&page=3')).length, 10)
})

test('keys are created and revoked in the settings', async () => {
  await using forge = await openDiary()
  await forge.organization('acme', forge.ada)
  const ada = await signedIn(forge, 'ada')
  assert.match((await ada.get('/settings/feeds')).text, /You have no feed keys yet/)
  const made = await ada.fillAndFollow('/settings/feeds', { name: 'Phone <3' })
  assert.equal(made.status, 200)
  const urls = (/class="secret">([^<]*)</.exec(made.text)?.[1] ?? '').split('\n')
  assert.equal(urls.length, 3)
  for (const url of urls) await subscribe(url)
  const { text } = await ada.get('/settings/feeds')
  assert.match(text, /Phone &lt;3[\s\S]*last used <time/)
  assert.ok(!text.includes('token='))
  const unnamed = await ada.post('/settings/feeds', { name: ' ' })
  assert.equal(unnamed.status, 422)
  assert.match(unnamed.text, /role="alert">Say in up to 200 characters/)
  const id = /\/delete\?id=(\d+)"/.exec(text)?.[1] ?? ''
  assert.match((await ada.get(`/settings/feeds/delete?id=${id}`)).text, /Revoke this key\?[\s\S]*Phone &lt;3/)
  await forge.person('eve')
  const eve = await signedIn(forge, 'eve')
  for (const each of [id, '0', 'x', ''])
    assert.equal((await eve.fill('/settings/feeds', { id: each }, '/settings/feeds/delete')).status, 404)
  assert.equal(await statusOf(urls[0] ?? ''), 200)
  assert.match((await ada.postAndFollow('/settings/feeds/delete', { id })).text, /The key is revoked/)
  for (const url of urls) assert.equal(await statusOf(url), 404)
  assert.equal((await fetch(`${forge.web}/settings/feeds`, { redirect: 'manual' })).status, 303)
})
