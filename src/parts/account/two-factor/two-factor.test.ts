import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { type Forge, openForge, pick } from '#test/forge.ts'
import { Guest, openAsAda, signedIn } from '#test/guest.ts'

const step = 30_000

/** What an authenticator app shows at this moment. */
function codeNow({ clock }: Forge, seed: string) {
  return new TOTP({ secret: Secret.fromBase32(seed) }).generate({ timestamp: clock.now().getTime() })
}

const proposalIn = (text: string) => /name="proposal" value="([\w-]+)"/.exec(text)?.[1] ?? ''
const recoveryIn = (text: string) => /class="secret">([^<]*)</.exec(text)?.[1]?.match(/\b[a-z\d]{5}-[a-z\d]{5}\b/g) ?? []

/** Turns an app on as its owner does, with the key that the page shows as text. */
async function enrolApp(forge: Forge, visitor: Guest) {
  const { text } = await visitor.get('/settings/security/app')
  const seed = (/class="seed">([^<]+)</.exec(text)?.[1] ?? '').replaceAll(' ', '')
  const done = await visitor.postAndFollow('/settings/security/app', { proposal: proposalIn(text), otp: codeNow(forge, seed) })
  assert.equal(done.status, 200, done.text)
  return { seed, recovery: recoveryIn(done.text) }
}

const giveCode = (visitor: Guest, otp: string) =>
  visitor.fill('/login/otp?return_to=/settings', { otp, return_to: '/settings' }, '/login/otp')

test('an app is set up by a code, and from then on signing in takes one', async () => {
  await using forge = await openAsAda()
  const { ada } = forge
  const other = await signedIn(forge, 'ada')
  const { seed, recovery } = await enrolApp(forge, ada)
  assert.equal(new Set(recovery).size, 10)
  assert.equal((await other.get('/settings/profile')).status, 303, 'other sessions have ended')
  assert.equal((await ada.get('/settings/profile')).status, 200, 'this one has not')
  assert.ok(!recoveryIn((await ada.get('/settings/security')).text).length, 'recovery codes are shown once')

  forge.clock.advance(step)
  const again = new Guest(forge)
  const half = await again.fill('/login', { login: 'ada', password: "ada's password", return_to: '/settings' })
  assert.equal(half.location, '/login/otp?return_to=%2Fsettings')
  const waiting = again.cookies.get('belfry_session')
  assert.equal((await again.get('/settings/profile')).status, 303, 'half a sign-in opens nothing')
  assert.equal((await giveCode(again, '000000')).status, 422)
  const whole = await giveCode(again, ` ${codeNow(forge, seed)} `)
  assert.deepEqual([whole.status, whole.location], [303, '/settings'])
  assert.notEqual(again.cookies.get('belfry_session'), waiting)
  assert.equal((await again.get('/settings/profile')).status, 200)
})

test('git takes the password of an account until it has a second factor, and a token always', async () => {
  await using forge = await openAsAda()
  const { token } = await forge.tokenFor('ada', ['repo'])
  const ask = async (password: string) => {
    const authorization = `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`
    const answer = await fetch(`${forge.web}/ada/none.git/info/refs?service=git-receive-pack`, { headers: { authorization } })
    return `${answer.status} ${await answer.text()}`
  }
  const known = '404 Repository not found.\n'
  assert.deepEqual([await ask("ada's password"), await ask(token)], [known, known])
  await enrolApp(forge, forge.ada)
  const refused = '401 This account has a second factor. Use a personal access token instead of the password.\n'
  assert.deepEqual([await ask("ada's password"), await ask(token)], [refused, known])
})

test('a wrong code turns nothing on, and the same key is shown again', async () => {
  await using forge = await openAsAda()
  const { ada } = forge
  const { text } = await ada.get('/settings/security/app')
  const refused = await ada.post('/settings/security/app', { proposal: proposalIn(text), otp: '000000' })
  assert.equal(refused.status, 422)
  assert.match(refused.text, /role="alert">The code is wrong or too old/)
  const seedOf = (page: string) => /class="seed">([^<]+)</.exec(page)?.[1]
  assert.equal(seedOf(refused.text), seedOf(text))
  assert.equal((await new Guest(forge).signIn('ada')).location, '/')
  const forged = await ada.post('/settings/security/app', { proposal: 'AAAA', otp: '000000' })
  assert.equal(forged.location, '/settings/security/app', 'a key that we did not make is not taken')
})

test('a code is good for once, and an earlier one for nothing', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const { seed } = await enrolApp(forge, await signedIn(forge, 'ada'))
  const used = codeNow(forge, seed)
  const first = new Guest(forge)
  await first.signIn('ada')
  assert.equal((await giveCode(first, used)).status, 422, 'the one that turned it on')
  forge.clock.advance(step)
  const code = codeNow(forge, seed)
  assert.equal((await giveCode(first, code)).status, 303)
  const second = new Guest(forge)
  await second.signIn('ada')
  assert.equal((await giveCode(second, code)).status, 422)
  forge.clock.advance(step)
  assert.equal((await giveCode(second, code)).status, 422)
  assert.equal((await giveCode(second, codeNow(forge, seed))).status, 303)
})

test('a recovery code is taken once instead, and new ones end the old', async () => {
  await using forge = await openAsAda()
  const { ada } = forge
  const { recovery } = await enrolApp(forge, ada)
  const [one = '', two = '', three = ''] = recovery
  const signIn = async (otp: string) => {
    const visitor = new Guest(forge)
    await visitor.signIn('ada')
    return (await giveCode(visitor, otp)).status
  }
  assert.equal(await signIn(one.toUpperCase()), 303)
  assert.equal(await signIn(one), 422)
  const renewed = await ada.fillAndFollow('/settings/security', { action: 'recovery', otp: two }, '/settings/security/two-factor')
  const fresh = recoveryIn(renewed.text)
  assert.equal(fresh.length, 10)
  assert.equal(await signIn(three), 422)
  assert.equal(await signIn(fresh[0] ?? ''), 303)
})

test('wrong codes are counted like wrong passwords', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const { seed } = await enrolApp(forge, await signedIn(forge, 'ada'))
  forge.clock.advance(step)
  const guesser = new Guest(forge)
  await guesser.signIn('ada')
  for (let count = 0; count < 10; count++) assert.equal((await giveCode(guesser, `00000${count}`)).status, 422)
  const stopped = await giveCode(guesser, codeNow(forge, seed))
  assert.equal(stopped.status, 403)
  assert.match(stopped.text, /Maximum number of login attempts exceeded/)
  forge.clock.advance(15 * 60_000 + 1)
  assert.equal((await guesser.get('/login/otp')).location, '/login?return_to=%2F', 'half a sign-in does not wait so long')
  await guesser.signIn('ada')
  assert.equal((await giveCode(guesser, codeNow(forge, seed))).status, 303)
})

test('codes come by text message', async () => {
  await using forge = await openAsAda()
  const { ada } = forge
  assert.equal((await ada.fill('/settings/security/text', { phone: '030 1234' })).status, 422)
  const { text } = await ada.fillAndFollow('/settings/security/text', { phone: '+49 (30) 1234-567' })
  const lastCode = () => /^\d{6}/.exec(forge.texts.at(-1)?.text ?? '')?.[0] ?? ''
  assert.deepEqual(pick(forge.texts, 'phone'), ['+49301234567'])
  assert.equal((await ada.fill('/settings/security/text', { phone: '+4912345678' })).status, 422, 'one a minute')
  const done = await ada.postAndFollow('/settings/security/text', { proposal: proposalIn(text), otp: lastCode() })
  assert.equal(recoveryIn(done.text).length, 10)

  const again = new Guest(forge)
  assert.match((await again.signIn('ada')).location ?? '', /^\/login\/otp/)
  assert.equal(forge.texts.length, 2)
  const page = await again.get('/login/otp')
  assert.match(page.text, /text message/)
  assert.equal((await again.post('/login/otp', { action: 'again' })).status, 422)
  assert.equal(forge.texts.length, 2, 'one a minute')
  const earlier = lastCode()
  forge.clock.advance(61_000)
  assert.equal((await again.post('/login/otp', { action: 'again' })).location, '/login/otp?return_to=%2F&sent=again')
  assert.equal(forge.texts.length, 3)
  if (earlier !== lastCode()) assert.equal((await giveCode(again, earlier)).status, 422)
  assert.equal((await giveCode(again, lastCode())).status, 303)
})

test('turning it off takes the password or a code, and ends the other sessions', async () => {
  await using forge = await openAsAda()
  const { ada } = forge
  const off = (proof: Record<string, string>) =>
    ada.fillAndFollow('/settings/security', { action: 'off', ...proof }, '/settings/security/two-factor')
  const { seed, recovery } = await enrolApp(forge, ada)
  const other = new Guest(forge)
  await other.signIn('ada')
  await giveCode(other, recovery[0] ?? '')
  assert.equal((await off({})).status, 422)
  assert.equal((await off({ password: 'wrong' })).status, 422)
  assert.equal((await off({ otp: '000000', password: "ada's password" })).status, 422)
  assert.equal((await ada.get('/settings/security/app')).location, '/settings/security', 'while it is on, no other is set up')
  forge.clock.advance(step)
  const done = await off({ otp: codeNow(forge, seed) })
  assert.match(done.text, /It is turned off/)
  assert.equal((await other.get('/settings/profile')).status, 303)
  assert.equal((await new Guest(forge).signIn('ada')).location, '/')
  await enrolApp(forge, ada)
  assert.match((await off({ password: "ada's password" })).text, /It is turned off/)
})

test('the key is not readable in the database, and no code is logged', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const { seed, recovery } = await enrolApp(forge, await signedIn(forge, 'ada'))
  const { rows } = await forge.belfry.db.pool.query('select secret from two_factor')
  assert.ok(!rows[0].secret.includes(seed))
  for (const secret of [seed, ...recovery]) assert.ok(!forge.logged.join('').includes(secret))
})
