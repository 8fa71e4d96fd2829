import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { digest } from '#platform/secrets.ts'
import { openForge } from '#test/forge.ts'
import { Guest, openAsAda, type Shown, signedIn } from '#test/guest.ts'

const alertOf = ({ text }: Shown) => /role="alert">([^<]*)</.exec(text)?.[1]

test('whoever signs up is signed in, and can sign in again', async () => {
  await using forge = await openForge()
  const ada = new Guest(forge)
  assert.match((await ada.get('/login')).text, /href="\/signup\?return_to=%2F"/)
  const made = await ada.fill('/signup', {
    login: 'Ada',
    email: 'ada@example.com',
    password: 'analytical',
    return_to: '/settings',
  })
  assert.deepEqual([made.status, made.location], [303, '/settings'])
  assert.match((await ada.get('/settings/emails')).text, /ada@example\.com/)
  assert.equal((await ada.post('/logout', {})).status, 303)
  assert.equal((await ada.get('/settings/profile')).location, '/login?return_to=%2Fsettings%2Fprofile')
  for (const login of ['ada', 'ADA@example.com']) {
    assert.equal((await new Guest(forge).signIn(login, 'analytical')).status, 303, login)
  }
})

test('a sign-up that cannot be says why, keeps what was typed, and not the password', async () => {
  await using forge = await openForge()
  await forge.person('ben')
  for (const [fields, why] of [
    [{ login: 'ben' }, 'Login is already taken.'],
    [{ login: 'settings' }, 'Login &#39;settings&#39; is reserved.'],
    [{ login: 'not a login' }, 'A login has letters, digits and single hyphens, and does not begin or end with a hyphen.'],
    [{ email: 'nowhere' }, 'Email must be an e-mail address.'],
    [{ password: 'short77' }, 'A password has 8 to 256 characters.'],
  ] as const) {
    const typed = { login: 'ada', email: 'ada@example.com', password: 'long enough"<', ...fields }
    const refused = await new Guest(forge).fill('/signup', typed)
    assert.deepEqual([refused.status, alertOf(refused)], [422, why])
    assert.ok(refused.text.includes(`value="${typed.login}"`) && refused.text.includes(`value="${typed.email}"`))
    assert.ok(!refused.text.includes(typed.password) && !refused.text.includes('long enough'))
  }
})

test('an operator can turn sign-up off: no page, and no link to it', async () => {
  await using forge = await openForge({ settings: { BELFRY_SIGNUP: 'off' } })
  const ada = new Guest(forge)
  assert.ok(!(await ada.get('/login')).text.includes('/signup'))
  assert.equal((await ada.get('/signup')).status, 404)
  assert.equal((await ada.post('/signup', { login: 'ada', email: 'a@example.com', password: 'analytical' })).status, 404)
  assert.equal((await forge.nobody.get('/users/ada')).status, 404)
})

test('the sign-in page takes a hint, and hides sign-up when asked to', async () => {
  await using forge = await openForge()
  const ada = new Guest(forge)
  const { text } = await ada.get('/login?login=ada%22%3E&allow_signup=false&return_to=/settings/tokens')
  assert.match(text, /name="login" type="text" value="ada&quot;&gt;"/)
  assert.ok(!text.includes('/signup'))
  const again = await ada.post('/login', { login: 'x', password: 'y', allow_signup: 'false', return_to: '/settings/tokens' })
  assert.ok(!again.text.includes('/signup'), 'also after a wrong password')
  assert.match(again.text, /name="return_to" value="\/settings\/tokens"/)
})

test('after signing in one is back where one wanted to go, if that is here', async () => {
  await using forge = await openAsAda()
  const { ada } = forge
  for (const [asked, given] of [
    ['/settings/tokens?a=b&c=d', '/settings/tokens?a=b&c=d'],
    [
      '/login/oauth/authorize?client_id=1&redirect_uri=http%3A%2F%2Fx.example',
      '/login/oauth/authorize?client_id=1&redirect_uri=http%3A%2F%2Fx.example',
    ],
    ['/süden/日本', '/s%C3%BCden/%E6%97%A5%E6%9C%AC'],
    ['', '/'],
    ['https://evil.example', '/'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['\\\\evil.example', '/'],
    ['/\t/evil.example', '/'],
    ['\t//evil.example', '/'],
    ['/a\r\nSet-Cookie: a=b', '/'],
    ['javascript:alert(1)', '/'],
    ['evil.example', '/'],
    ['@evil.example', '/'],
  ] as const) {
    const query = `/login?return_to=${encodeURIComponent(asked)}`
    const visitor = new Guest(forge)
    const { text } = await visitor.get(query)
    const carried = /name="return_to" value="([^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    assert.equal(carried, given, 'in the form')
    const fields = { login: 'ada', password: "ada's password", return_to: asked }
    assert.equal((await visitor.post('/login', fields)).location, given, `after the form, ${JSON.stringify(asked)}`)
    assert.equal((await ada.get(query)).location, given, 'signed in already')
  }
})

test('the cookie is out of the reach of scripts and of other sites', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const cookieOf = ({ headers }: Shown) => headers.getSetCookie().find((cookie) => cookie.startsWith('belfry_session='))
  const ada = new Guest(forge)
  const kept = cookieOf(await ada.signIn('ada'))
  assert.match(kept ?? '', /^belfry_session=\w{41}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/)
  const gone = cookieOf(await ada.fill('/settings/profile', {}, '/logout'))
  assert.equal(gone, 'belfry_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0')
  forge.belfry.addresses.web = 'https://belfry.example'
  const { headers } = await ada.signIn('ada')
  for (const cookie of headers.getSetCookie())
    assert.match(cookie, /^__Host-belfry_\w+=\w+; Path=\/; HttpOnly; SameSite=Lax; Secure(;|$)/)
  assert.equal((await ada.get('/settings/profile')).status, 200)
})

test('on https, a cookie without the prefix does not count, except one of an earlier version, which is replaced', async () => {
  await using forge = await openAsAda()
  const { ada, belfry } = forge
  const token = ada.cookies.get('belfry_session') ?? ''
  belfry.addresses.web = 'https://belfry.example'
  const bearing = (value: string, headers = {}) => {
    const guest = new Guest(forge, headers)
    guest.cookies.set('belfry_session', value)
    return guest
  }
  assert.equal((await bearing(token).get('/settings/profile')).status, 303, 'another host of the domain could have set it')

  const old = 'x'.repeat(40)
  await belfry.db.query(sql`update sessions set digest = ${digest(old)} where digest = ${digest(token)}`)
  const [first, second] = [bearing(old), bearing(old)]
  assert.equal((await first.get('/settings/profile')).status, 200)
  assert.deepEqual([...first.cookies.keys()].sort(), ['__Host-belfry_session'])
  assert.equal((await second.get('/settings/profile')).status, 200, 'a request that was under way')
  assert.equal((await first.fill('/settings/profile', { name: 'Ada' })).status, 303)
  forge.clock.advance(60_001)
  assert.equal((await first.get('/settings/profile')).status, 200)
  assert.equal((await bearing(old).get('/settings/profile')).status, 303)
})

test('signing in begins a new session, whatever cookie the browser came with', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  await forge.person('eve')
  const eve = await signedIn(forge, 'eve')
  const planted = eve.cookies.get('belfry_session') ?? ''
  for (const cookie of [planted, 'x'.repeat(40)]) {
    const ada = new Guest(forge)
    ada.cookies.set('belfry_session', cookie)
    await ada.get('/signup')
    assert.equal((await ada.fill('/settings/profile', { login: 'ada', password: "ada's password" }, '/login')).status, 303)
    assert.notEqual(ada.cookies.get('belfry_session'), cookie)
    const thief = new Guest(forge)
    thief.cookies.set('belfry_session', cookie)
    assert.equal((await thief.get('/settings/profile')).status, 303, 'what was there before opens nothing')
  }
})

test('signing out ends the session itself, and takes a form of ours', async () => {
  await using forge = await openAsAda()
  const { ada } = forge
  const copy = new Guest(forge)
  copy.cookies.set('belfry_session', ada.cookies.get('belfry_session') ?? '')
  await copy.get('/settings/profile')
  assert.equal((await ada.post('/logout', { csrf: '' })).status, 403)
  assert.equal((await copy.get('/settings/profile')).status, 200)
  assert.equal((await ada.fill('/settings/profile', {}, '/logout')).location, '/')
  assert.equal((await copy.get('/settings/profile')).status, 303)
})

test('a form without its token, with someone else’s, or from another site is refused', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  await forge.person('eve')
  const [ada, eve] = [await signedIn(forge, 'ada'), await signedIn(forge, 'eve')]
  await eve.get('/settings/profile')
  await ada.get('/settings/profile')
  const fields = { name: 'Changed' }
  assert.equal((await ada.post('/settings/profile', { ...fields, csrf: '' })).status, 403)
  assert.equal((await ada.post('/settings/profile', { ...fields, csrf: eve.csrf })).status, 403)
  for (const origin of ['https://evil.example', 'null', `${forge.web}.evil.example`]) {
    assert.equal((await ada.post('/settings/profile', fields, { origin })).status, 403, origin)
  }
  assert.equal((await forge.nobody.read('/users/ada')).name, null)
  assert.equal((await ada.post('/settings/profile', fields, { origin: forge.web })).status, 303)
  assert.equal((await new Guest(forge).post('/login', { login: 'ada', password: "ada's password" })).status, 403)
})

test('people sign in at localhost when the address is 127.0.0.1', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const web = forge.web.replace('127.0.0.1', 'localhost')
  const ada = new Guest({ web }, { origin: web })
  assert.equal((await ada.signIn('ada')).status, 303)
  assert.equal((await ada.get('/settings/profile')).status, 200)
  const other = `http://localhost:${Number(new URL(web).port) - 1}`
  assert.equal((await ada.post('/settings/profile', { name: 'Changed' }, { origin: other })).status, 403)
})

test('a suspended account is out at once', async () => {
  await using forge = await openAsAda()
  const { ada } = forge
  assert.equal((await ada.get('/settings/profile')).status, 200)
  await forge.belfry.db.query(sql`update accounts set suspended_at = ${forge.clock.now()} where login = 'ada'`)
  assert.equal((await ada.get('/settings/profile')).status, 303)
})

test('a session that is not used for a month has ended; used, it goes on', async () => {
  await using forge = await openAsAda()
  const { ada } = forge
  const days = (count: number) => forge.clock.advance(count * 24 * 3600_000)
  for (let count = 0; count < 3; count++) {
    days(20)
    assert.equal((await ada.get('/settings/profile')).status, 200)
  }
  days(31)
  assert.equal((await ada.get('/settings/profile')).status, 303)
})

test('every page loads nothing from elsewhere, is framed by nobody and kept by no cache', async () => {
  await using forge = await openAsAda()
  const { ada } = forge
  const nobody = new Guest(forge)
  for (const [visitor, path] of [
    [nobody, '/login'],
    [nobody, '/signup'],
    [ada, '/settings/profile'],
    [ada, '/settings/security'],
    [ada, '/settings/security/app'],
    [ada, '/settings/security/text'],
    [ada, '/settings/sessions'],
    [ada, '/settings/tokens'],
    [ada, '/settings/tokens/fine-grained'],
    [ada, '/settings/developers'],
  ] as const) {
    const { status, headers, text } = await visitor.get(path)
    assert.equal(status, 200, path)
    assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none';.*frame-ancestors 'none'/)
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.doesNotMatch(text, /<script(?! src="\/assets\/)|style=|(src|href)="(https?:)?\/\//)
  }
})

test('no password or session is logged', async () => {
  await using forge = await openAsAda()
  const { ada } = forge
  await new Guest(forge).signIn('ada', 'a wrong secret')
  const log = forge.logged.join('')
  for (const secret of ["ada's password", 'a wrong secret', ada.cookies.get('belfry_session') ?? '', ada.csrf]) {
    assert.ok(!log.includes(secret))
  }
})
