import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect, type Forge, openForge } from '#test/forge.ts'
import { Guest, openAsAda, type Shown, signedIn } from '#test/guest.ts'

/** Opens the page of an operation, fills in the form and sends it. */
function tryIt(guest: Guest, operation: string, fields: Record<string, string> = {}) {
  return guest.fill(`/docs/try/${operation}`, fields)
}

const repo = { 'path.owner': 'ada', 'path.repo': 'engine' }

/** The status and the text of the response that a page shows. */
function responseOf({ text }: Shown) {
  const [, pane = ''] = /<turbo-frame id="exchange">([\s\S]*?)<h2>The same/.exec(text) ?? []
  const plain = pane
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
  return { status: Number(/class="badge \w+">(\d+)/.exec(pane)?.[1]), pane, plain }
}

const tokensOf = ({ belfry }: Forge) =>
  belfry.db.load<{ count: number }>(sql`select count(*)::integer as count from tokens`).then(({ count }) => count)

test('a visitor tries an operation with their own rights, and no token is made', async () => {
  await using forge = await openAsAda()
  const ada = await forge.tokenFor('ada', ['repo'])
  await ada.owns('engine', { private: true, auto_init: true })
  await forge.person('ben')
  const before = await tokensOf(forge)
  const form = await forge.ada.get('/docs/try/repos/get')
  assert.match(form.text, /name="path\.owner" type="text" value="ada"/)
  assert.match(form.text, /name="path\.repo" type="text" value="engine"/)
  const { status, plain } = responseOf(await forge.ada.post('/docs/try/repos/get', repo))
  assert.equal(status, 200)
  assert.match(plain, /"full_name": "ada\/engine"[\s\S]*etag/)
  assert.match(plain, /in \d+ ms, [\d.]+ KB/)
  const ben = await signedIn(forge, 'ben')
  assert.equal(responseOf(await tryIt(ben, 'repos/get', repo)).status, 404)
  // Requests that run at the same time keep their callers apart.
  const shown = await Promise.all(
    Array.from({ length: 20 }, (_, index) => (index % 2 ? ben : forge.ada).post('/docs/try/users/get-authenticated', {})),
  )
  for (const [index, page] of shown.entries())
    assert.match(responseOf(page).plain, index % 2 ? /"login": "ben"/ : /"login": "ada"/)
  assert.equal(await tokensOf(forge), before)
})

test('a request that changes data asks first, and for the password if that was given long ago', async () => {
  await using forge = await openAsAda()
  const ada = await forge.tokenFor('ada', ['repo'])
  await ada.owns('engine')
  const fields = { ...repo, body: '{"title": "<script>alert(1)</script>"}' }
  const asked = await tryIt(forge.ada, 'issues/create', fields)
  assert.equal(asked.status, 422)
  assert.match(asked.text, /Tick the box/)
  assert.match(asked.text, /&lt;script&gt;alert\(1\)/)
  const made = await tryIt(forge.ada, 'issues/create', { ...fields, sure: 'yes' })
  assert.equal(responseOf(made).status, 201)
  assert.doesNotMatch(made.text, /<script>alert/)
  const [issue] = await ada.read('/repos/ada/engine/issues')
  assert.deepEqual([issue.title, issue.user.login], ['<script>alert(1)</script>', 'ada'])
  forge.clock.advance(2 * 3600_000)
  const page = '/docs/try/repos/delete'
  const confirm = await tryIt(forge.ada, 'repos/delete', { ...repo, sure: 'yes' })
  assert.match(confirm.text, /Enter your password/)
  const wrong = await forge.ada.post(page, { ...repo, sure: 'yes', confirm_password: 'wrong' })
  assert.match(wrong.text, /password is wrong/)
  await expect(200, await ada.get('/repos/ada/engine'))
  assert.equal(responseOf(await forge.ada.post(page, { ...repo, sure: 'yes', confirm_password: "ada's password" })).status, 204)
  await expect(404, await ada.get('/repos/ada/engine'))
})

test('operations that need another credential, or do not end, are not sent', async () => {
  await using forge = await openAsAda()
  for (const [operation, reason] of [
    ['oauth-authorizations/list-authorizations', /needs your password/],
    ['apps/check-token', /secret of an OAuth application/],
    ['apps/get-authenticated', /key of an app/],
    ['apps/list-repos-accessible-to-installation', /token of an installation/],
    ['enterprise-admin/create-user', /site administrators only/],
    ['repos/upload-release-asset', /takes a file/],
    ['markdown/render-raw', /takes a file/],
  ] as const) {
    assert.match((await forge.ada.get(`/docs/try/${operation}`)).text, reason, operation)
    const sent = await forge.ada.post(`/docs/try/${operation}`, { sure: 'yes' })
    assert.equal(sent.status, 403, operation)
    assert.doesNotMatch(sent.text, /<h2>Response/, operation)
  }
  await expect(204, await forge.admin.put('/users/ada/site_admin'))
  const body = '{"login": "cleo", "email": "cleo@example.com"}'
  assert.equal(responseOf(await tryIt(forge.ada, 'enterprise-admin/create-user', { body, sure: 'yes' })).status, 201)
})

test('only a signed-in user tries something, from a page of this server', async () => {
  await using forge = await openAsAda()
  const path = '/docs/try/users/get-authenticated'
  assert.match((await new Guest(forge).get(path)).location ?? '', /^\/login\?/)
  await forge.ada.get(path)
  assert.equal((await forge.ada.post(path, { csrf: 'x' })).status, 403)
  assert.equal((await forge.ada.post(path, {}, { origin: 'https://evil.example' })).status, 403)
  assert.equal(responseOf(await forge.ada.post(path, {})).status, 200)
  await forge.belfry.db.query(sql`update sessions set awaits_code = true`)
  assert.doesNotMatch((await forge.ada.post(path, {})).text, /<h2>Response/)
  await forge.belfry.db.query(sql`update sessions set awaits_code = false`)
  await expect(204, await forge.admin.put('/users/ada/suspended'))
  assert.doesNotMatch((await forge.ada.post(path, {})).text, /<h2>Response/)
  assert.match((await forge.ada.get(path)).location ?? '', /^\/login\?/)
})

test('no value leads to another address, and none runs', async () => {
  await using forge = await openAsAda()
  const values = [
    '..',
    '.',
    '../..',
    '%2e%2e',
    '/',
    '\\..\\',
    '?x=1',
    '#x',
    ' ',
    '"><img src=x onerror=alert(1)>',
    '\0',
    '\r\nX: y',
  ]
  const more = ['é𝄞\u202e', 'a'.repeat(5000), 'http://evil.example/', '//evil.example', '@evil.example', '~', '{repo}', '']
  for (const value of [...values, ...more]) {
    for (const [operation, fields] of [
      ['repos/get', { 'path.owner': value, 'path.repo': value }],
      ['repos/get-content', { ...repo, 'path.path': value, 'query.ref': value }],
      ['users/get-by-username', { 'path.username': value }],
      ['search/repos', { 'query.q': value, 'query.sort': value }],
    ] as const) {
      const page = await tryIt(forge.ada, operation, fields)
      assert.ok([200, 422].includes(page.status), `${operation} ${value}: ${page.status}`)
      assert.doesNotMatch(page.text, /<img src=x/)
      const { status, pane } = responseOf(page)
      if (page.status === 200) {
        assert.ok(status < 500, `${operation} ${value}: ${status}`)
        assert.doesNotMatch(pane, /text\/html/, `${operation} ${value}`)
      }
    }
  }
  for (const body of ['', 'null', '[1]', '{', '"x"', `{"title": ${'['.repeat(2000)}}`, '{"title": "\\u0000"}']) {
    const { status } = responseOf(await tryIt(forge.ada, 'issues/create', { ...repo, body, sure: 'yes' }))
    assert.ok(status >= 400 && status < 500, body)
  }
})

test('a response is bounded, and counts against the rate limit of the visitor', async () => {
  await using forge = await openForge({ settings: { BELFRY_RATE_LIMIT: 'on' } })
  const ada = await forge.person('ada')
  const visitor = await signedIn(forge, 'ada')
  await ada.owns('engine', { auto_init: true })
  const content = Buffer.alloc(300_000, 'text ').toString('base64')
  await expect(201, await ada.put('/repos/ada/engine/contents/large', { message: 'Add', content }))
  const large = await tryIt(visitor, 'repos/get-content', { ...repo, 'path.path': 'large' })
  assert.match(large.text, /more than 256\.0 KB[\s\S]*Only the first 64\.0 KB are shown/)
  assert.ok(large.text.length < 120_000)
  const remaining = async () =>
    Number(/x-ratelimit-remaining\s*(\d+)/.exec(responseOf(await tryIt(visitor, 'meta/get-all-versions')).plain)?.[1])
  const first = await remaining()
  assert.deepEqual([first > 4000, await remaining()], [true, first - 1])
})
