import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { sql } from '#platform/database.ts'
import { digest } from '#platform/secrets.ts'
import { type Forge, openForge } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'
import { register } from '#test/oauth.ts'
import { countAttempt, limitsFrom } from './attempts.ts'
import { slowRecoveryCodes } from './recovery-codes.ts'

const basic = (name: string, password: string) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`

/** How many answers had each status, of requests that are sent at the same moment. */
async function burst(count: number, send: (index: number) => Promise<{ status: number }>) {
  const answers = await Promise.all(Array.from({ length: count }, (_, index) => send(index)))
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const asUser = ({ nobody }: Forge, password: string, headers: Record<string, string> = {}) =>
  nobody.with({ authorization: basic('ada', password), ...headers })

test('of a burst of wrong passwords, ten are checked', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const counts = await burst(50, (index) => asUser(forge, `wrong ${index}`).get('/user'))
  assert.deepEqual(counts, { 401: 10, 403: 40 })
  const refused = await asUser(forge, "ada's password").get('/user')
  assert.equal(refused.status, 403)
  assert.equal(refused.headers.get('retry-after'), '900')
  forge.clock.advance(15 * 60_000 + 1)
  assert.equal((await asUser(forge, "ada's password").get('/user')).status, 200)
})

test('of a burst of right passwords, all are taken', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  assert.deepEqual(await burst(25, () => asUser(forge, "ada's password").get('/user')), { 200: 25 })
})

test('a right password among nine wrong ones is taken', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const counts = await burst(10, (index) => asUser(forge, index === 4 ? "ada's password" : 'wrong').get('/user'))
  assert.deepEqual(counts, { 200: 1, 401: 9 })
  assert.equal((await asUser(forge, "ada's password").get('/user')).status, 200)
})

test('attempts count in all networks of an address', async () => {
  await using forge = await openForge()
  const { db } = forge.belfry
  const attempt = (index: number) => {
    const limits = limitsFrom('tries', `2001:db8:1:${(0x200 + index).toString(16)}::1`, 2)
    return countAttempt(db, limits, 15, 'Too many.').then(
      () => ({ status: 200 }),
      () => ({ status: 429 }),
    )
  }
  // Two from each /64, eight from the /56, and the next /56 is not affected.
  assert.deepEqual(await burst(5, () => attempt(0)), { 200: 2, 429: 3 })
  assert.deepEqual(await burst(20, (index) => attempt(1 + index)), { 200: 6, 429: 14 })
  assert.deepEqual(await attempt(0x100), { status: 200 })
})

test('of a burst of passwords from one IPv6 network, fifty are checked, and others are not affected', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const guess = (index: number) =>
    forge.nobody
      .with({ authorization: basic(`name-${index}`, 'wrong'), ...from(`2001:db8:1:2::${index.toString(16)}`) })
      .get('/user')
  assert.deepEqual(await burst(60, guess), { 401: 50, 403: 10 })
  assert.equal((await asUser(forge, "ada's password", from('2001:db8:1:2:ffff::1')).get('/user')).status, 403)
  assert.equal((await asUser(forge, "ada's password", from('2001:db8:1:3::1')).get('/user')).status, 200)
})

/** Ada with codes from an app, and what her pages said. */
async function openWithApp() {
  const forge = await openForge()
  await forge.person('ada')
  const ada = await signedIn(forge, 'ada', { 'x-forwarded-for': '192.0.2.1' })
  const { text } = await ada.get('/settings/security/app')
  const seed = (/class="seed">([^<]+)</.exec(text)?.[1] ?? '').replaceAll(' ', '')
  const proposal = /name="proposal" value="([\w-]+)"/.exec(text)?.[1] ?? ''
  const code = () => new TOTP({ secret: Secret.fromBase32(seed) }).generate({ timestamp: forge.clock.now().getTime() })
  const done = await ada.postAndFollow('/settings/security/app', { proposal, otp: code() })
  const secret = /class="secret">([^<]+)</.exec(done.text)?.[1] ?? ''
  const recovery = secret.trim().split(/\s+/)
  forge.clock.advance(60_000)
  return Object.assign(forge, { ada, code, recovery })
}

test('of a burst of one-time codes, and of recovery codes, ten are checked', async () => {
  await using forge = await openWithApp()
  const right = forge.code()
  const wrong = (index: number) => String(index).padStart(6, right.startsWith('0') ? '1' : '0')
  const guess = (otp: string) => asUser(forge, "ada's password", { 'x-service-otp': otp }).get('/authorizations')
  assert.deepEqual(await burst(50, (index) => guess(wrong(index))), { 401: 10, 403: 40 })
  assert.equal((await guess(right)).status, 403)
  forge.clock.advance(15 * 60_000 + 1)
  assert.deepEqual(await burst(30, (index) => guess(`aaaaa-aaa${10 + index}`)), { 401: 10, 403: 20 })
  forge.clock.advance(15 * 60_000 + 1)
  assert.equal((await guess(forge.recovery[3] ?? '')).status, 200)
  assert.equal((await guess(forge.recovery[3] ?? '')).status, 401, 'a recovery code is taken once')
})

test('a recovery code that is sent many times at once is taken once', async () => {
  await using forge = await openWithApp()
  const guess = () => asUser(forge, "ada's password", { 'x-service-otp': forge.recovery[0] ?? '' }).get('/authorizations')
  assert.deepEqual(await burst(9, guess), { 200: 1, 401: 8 })
})

test('of a burst of client secrets, ten are checked from one address, and the application goes on elsewhere', async () => {
  await using forge = await openForge()
  const { client_id, client_secret } = await register(forge)
  const exchange = (secret: string, address: string) =>
    fetch(`${forge.web}/login/oauth/access_token`, {
      method: 'POST',
      headers: { accept: 'application/json', 'x-forwarded-for': address },
      body: new URLSearchParams({ client_id, client_secret: secret, code: 'x' }),
    })
  assert.deepEqual(await burst(40, (index) => exchange(`wrong ${index}`, '192.0.2.5')), { 200: 10, 429: 30 })
  const refused = await exchange(client_secret, '192.0.2.5')
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('retry-after'), '900')
  assert.equal(((await refused.json()) as { error: string }).error, 'too_many_requests')
  const elsewhere = (await (await exchange(client_secret, '192.0.2.6')).json()) as { error: string }
  assert.equal(elsewhere.error, 'bad_verification_code')

  const check = (index: number) =>
    forge.nobody
      .with({ authorization: basic(client_id, `wrong ${index}`), 'x-forwarded-for': '192.0.2.8' })
      .post(`/applications/${client_id}/token`, { access_token: 'x' })
  assert.deepEqual(await burst(30, check), { 401: 10, 403: 20 })
})

test('of a burst of client secrets at the authorizations endpoint, ten are checked', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const { client_id } = await register(forge)
  const ada = asUser(forge, "ada's password")
  const guess = (index: number) => ada.put(`/authorizations/clients/${client_id}`, { client_secret: `wrong ${index}` })
  assert.deepEqual(await burst(40, guess), { 403: 30, 422: 10 })
  const post = (index: number) => ada.post('/authorizations', { note: 'n', client_id, client_secret: `wrong ${index}` })
  assert.deepEqual(await burst(5, post), { 403: 5 })
})

test('of a burst of device codes, ten are checked', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const ada = await signedIn(forge, 'ada')
  await ada.get('/login/device')
  assert.deepEqual(await burst(30, () => ada.post('/login/device', { user_code: 'BBBB-CCCC' })), { 403: 20, 422: 10 })
})

test('strangers who guess at an account do not lock its owner out where she is signed in', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const home = { 'x-forwarded-for': '192.0.2.1' }
  await signedIn(forge, 'ada', home)
  const stranger = (index: number) => asUser(forge, 'wrong', { 'x-forwarded-for': `203.0.113.${index}` }).get('/user')
  assert.deepEqual(await burst(30, stranger), { 401: 10, 403: 20 })
  assert.equal((await asUser(forge, "ada's password", { 'x-forwarded-for': '203.0.113.99' }).get('/user')).status, 403)
  assert.equal((await asUser(forge, "ada's password", home).get('/user')).status, 200)
  assert.deepEqual(await burst(30, () => asUser(forge, 'wrong', home).get('/user')), { 401: 10, 403: 20 })
})

test('a network makes twenty accounts an hour', async () => {
  await using forge = await openForge()
  const signUp = async (index: number, address: string) => {
    const guest = new Guest(forge, { 'x-forwarded-for': address })
    const fields = { login: `p${index}`, email: `p${index}@example.com`, password: 'long enough' }
    return guest.fill('/signup', fields)
  }
  assert.deepEqual(await burst(30, (index) => signUp(index, `2001:db8::${index}`)), { 303: 20, 429: 10 })
  const refused = await signUp(99, '2001:db8::99')
  assert.equal(refused.headers.get('retry-after'), '3600')
  assert.match(refused.text, /role="alert">Too many accounts were made from your network/)
  assert.equal((await signUp(100, '192.0.2.1')).status, 303)
  forge.clock.advance(3600_000)
  assert.equal((await signUp(99, '2001:db8::99')).status, 303)
})

test('a network gets fifty device codes within their lifetime', async () => {
  await using forge = await openForge()
  const { client_id } = await register(forge)
  const start = (address: string) =>
    fetch(`${forge.web}/login/device/code`, {
      method: 'POST',
      headers: { accept: 'application/json', 'x-forwarded-for': address },
      body: new URLSearchParams({ client_id }),
    })
  assert.deepEqual(await burst(60, () => start('192.0.2.5')), { 200: 50, 429: 10 })
  const refused = await start('192.0.2.5')
  assert.equal(refused.headers.get('retry-after'), '900')
  assert.equal(((await refused.json()) as { error: string }).error, 'too_many_requests')
  assert.equal((await start('192.0.2.6')).status, 200)
  forge.clock.advance(900_000)
  assert.equal((await start('192.0.2.5')).status, 200)
})

test('recovery codes of an earlier version get a slow hash, and go on working', async () => {
  await using forge = await openWithApp()
  const { db } = forge.belfry
  const old = ['abcde-fghij', 'klmno-pqrst']
  await db.query(sql`delete from recovery_codes`)
  await db.query(sql`insert into recovery_codes (user_id, digest)
    select id, unnest(${old.map(digest)}::bytea[]) from accounts where login = 'ada'`)
  await db.query(sql`update two_factor set recovery_salt = null`)
  const guess = (otp: string) => asUser(forge, "ada's password", { 'x-service-otp': otp }).get('/authorizations')
  assert.equal((await guess('abcde-fghij')).status, 200, 'before that, too')
  await Promise.all([slowRecoveryCodes(db), slowRecoveryCodes(db)])
  const rows = await db.rows<{ digest: Buffer }>(sql`select digest from recovery_codes`)
  assert.equal(rows.length, 1)
  assert.ok(rows.every((row) => !old.some((code) => row.digest.equals(digest(code)))))
  assert.equal((await guess('klmno-pqrst')).status, 200)
  assert.equal((await guess('klmno-pqrst')).status, 401)
})
