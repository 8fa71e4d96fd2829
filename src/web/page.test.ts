import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openForge } from '#test/forge.ts'
import { Guest, type Shown, signedIn } from '#test/guest.ts'

const signInLink = ({ text }: Shown) => /href="(\/login[^"]*)">Sign in</.exec(text)?.[1]?.replaceAll('&amp;', '&')

test('"Sign in" leads back to the page with the link', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const nobody = new Guest(forge)
  for (const [path, link] of [
    ['/', '/login'],
    ['/docs', '/login?return_to=%2Fdocs'],
    ['/ada?tab=a&b=%20c', '/login?return_to=%2Fada%3Ftab%3Da%26b%3D%2520c'],
    ['/no/such/page', '/login?return_to=%2Fno%2Fsuch%2Fpage'],
    ['/login?return_to=/settings', '/login?return_to=%2Fsettings'],
    ['/signup?return_to=/settings', '/login?return_to=%2Fsettings'],
    ['/login?return_to=//evil.example', '/login'],
    ['//evil.example/x', '/login'],
    ['/%5Cevil.example', '/login?return_to=%2F%255Cevil.example'],
    ['/ada.private?token=secret', '/login'],
  ] as const) {
    assert.equal(signInLink(await nobody.get(path)), link, path)
  }
  const guest = new Guest(forge)
  const link = signInLink(await guest.get('/docs')) ?? ''
  const return_to = /name="return_to" value="([^"]*)"/.exec((await guest.get(link)).text)?.[1] ?? ''
  assert.equal((await guest.post('/login', { login: 'ada', password: "ada's password", return_to })).location, '/docs')
})

test('the reference and pages about errors know who is signed in', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const ada = await signedIn(forge, 'ada', { accept: 'text/html' })
  for (const [path, status] of [
    ['/docs', 200],
    ['/no/such/page', 404],
    ['/%E0%A4%A', 404],
    ['/ada/nothing/issues', 404],
  ] as const) {
    const page = await ada.get(path)
    assert.equal(page.status, status, path)
    assert.match(page.text, /href="\/ada"><span><strong>ada<[\s\S]*Sign out/, path)
    assert.equal(signInLink(page), undefined)
  }
  const unreadable = await fetch(`${forge.web}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: `belfry_session=${ada.cookies.get('belfry_session')}` },
    body: '{}',
  })
  assert.match(await unreadable.text(), /That cannot be read[\s\S]*/)
  assert.equal(unreadable.status, 415)
})

test('an address that cannot be decoded is a page in a browser, and JSON to programs', async () => {
  await using forge = await openForge()
  const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const page = await fetch(`${forge.web}/%E0%A4%A`, { headers: browser })
  assert.equal(page.status, 404)
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
  assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
  assert.match(await page.text(), /There is no such page/)
  for (const [url, headers] of [
    [`${forge.web}/%E0%A4%A`, {}],
    [`${forge.web}/api/v3/%E0%A4%A`, browser],
    [`${forge.versioned}/%E0%A4%A`, browser],
  ] as const) {
    const answer = await fetch(url, { headers })
    assert.equal(answer.status, 404, url)
    assert.equal(((await answer.json()) as { message: string }).message, 'Not Found')
  }
})

test('a form that made something redirects: a reload shows no secret, and makes no second one', async () => {
  await using forge = await openForge()
  const api = await forge.person('ada')
  const ada = await signedIn(forge, 'ada')
  const secretIn = ({ text }: Shown) => /class="secret">([^<]+)</.exec(text)?.[1]
  const application = { name: 'Rook', url: 'https://rook.example', callback_url: 'https://rook.example/back' }
  for (const [path, fields] of [
    ['/settings/tokens', { note: 'mine', days: '7', scopes: 'repo' }],
    ['/settings/tokens/fine-grained', { note: 'mine', days: '7', reach: 'all' }],
    ['/settings/developers', application],
    ['/settings/feeds', { name: 'reader' }],
  ] as const) {
    const { status, location } = await ada.fill(path, fields)
    assert.equal(status, 303, path)
    assert.ok(location?.startsWith(path), path)
    const eve = new Guest(forge)
    assert.equal((await eve.get(location ?? '')).status, 303, 'not without the session')
    assert.ok(secretIn(await ada.get(location ?? '')), path)
    assert.equal(secretIn(await ada.get(location ?? '')), undefined, 'shown once')
  }
  const tokens = await ada.get('/settings/tokens')
  // Two: the one that the forge made for its own use, and this.
  assert.equal(tokens.text.match(/class="setting-row"/g)?.length, 2)
  assert.equal((await ada.get('/settings/developers')).text.match(/<strong>Rook</g)?.length, 1)
  const late = await ada.fill('/settings/tokens', { note: 'late', days: '7' })
  forge.clock.advance(5 * 60_000)
  assert.equal(secretIn(await ada.get(late.location ?? '')), undefined, 'for five minutes')
  const stored = await forge.belfry.db.pool.query('select content from page_states')
  for (const { content } of stored.rows) assert.ok(!content.includes('bfp_'))
  assert.equal((await api.get('/user')).status, 200)
})

test('deleting a token asks first', async () => {
  await using forge = await openForge()
  const api = await forge.person('ada')
  await forge.person('eve')
  const [ada, eve] = [await signedIn(forge, 'ada'), await signedIn(forge, 'eve')]
  const list = await ada.get('/settings/tokens')
  assert.doesNotMatch(list.text, /action="\/settings\/tokens\/delete"/)
  const ask = /href="(\/settings\/tokens\/delete\?id=\d+)"/.exec(list.text)?.[1] ?? ''
  assert.equal((await eve.get(ask)).status, 404, 'nobody else')
  const question = await ada.get(ask)
  assert.match(question.text, /Delete this token\?[\s\S]*href="\/settings\/tokens">Keep it</)
  assert.equal((await api.get('/user')).status, 200)
  const id = /name="id" value="(\d+)"/.exec(question.text)?.[1] ?? ''
  assert.match((await ada.postAndFollow('/settings/tokens/delete', { id })).text, /The token is deleted/)
  assert.equal((await api.get('/user')).status, 401)
})

test('a page is compressed for browsers, and its CSRF token differs each time', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const read = async (encoding: string) => {
    const page = await fetch(`${forge.web}/login`, { headers: { 'accept-encoding': encoding } })
    return { encoding: page.headers.get('content-encoding'), text: await page.text() }
  }
  for (const [accepted, encoding] of [
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip', 'gzip'],
    ['identity', null],
    ['GARBAGE;;q=zstd', null],
  ] as const) {
    const page = await read(accepted)
    assert.equal(page.encoding, encoding, accepted)
    assert.match(page.text, /<h1>Sign in to Belfry<\/h1>/)
  }
  const ada = await signedIn(forge, 'ada')
  const tokens: string[] = []
  for (let n = 0; n < 2; n++) {
    await ada.get('/settings/profile')
    tokens.push(ada.csrf)
  }
  assert.notEqual(tokens[0], tokens[1])
  for (const csrf of tokens) assert.equal((await ada.post('/settings/profile', { name: 'Ada', csrf })).status, 303)
  const swapped = `${tokens[0]?.slice(0, 64)}${tokens[1]?.slice(64)}`
  assert.equal((await ada.post('/settings/profile', { name: 'Ada', csrf: swapped })).status, 403)
})

test('a page that is kept for a moment is right after each act, and is the visitor’s own', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await forge.person('ben')
  await ada.post('/user/repos', { name: 'engine' })
  const [reader, other] = [new Guest(forge), await signedIn(forge, 'ben')]
  for (const [index, title] of ['One', 'Two', 'Three'].entries()) {
    await ada.post('/repos/ada/engine/issues', { title })
    for (const guest of [reader, reader, other, other]) {
      const { text } = await guest.get('/ada/engine/issues')
      assert.equal(text.match(/>(One|Two|Three)</g)?.length, index + 1)
    }
  }
  assert.equal(reader.cookies.size, 0, 'who only reads gets no cookie')
  assert.match((await other.get('/ada/engine')).text, /Signed in as ben/)
  assert.doesNotMatch((await reader.get('/ada/engine')).text, /Signed in as/)
  await ada.patch('/repos/ada/engine', { private: true })
  for (const guest of [reader, other]) assert.equal((await guest.get('/ada/engine')).status, 404)
  const first = new Guest(forge)
  const second = new Guest(forge)
  for (const guest of [first, second]) await guest.get('/login')
  assert.notEqual(first.cookies.get('belfry_visit'), second.cookies.get('belfry_visit'), 'a page with a form is not shared')
  assert.equal((await second.post('/login', { login: 'ben', password: "ben's password" })).status, 303)
})
