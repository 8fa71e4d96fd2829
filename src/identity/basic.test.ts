import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { expect, type Forge, openForge } from '#test/forge.ts'
import { loadUser } from './accounts.ts'
import { newRecoveryCodes } from './recovery-codes.ts'
import { enableApp, enableText, sendCode } from './two-factor.ts'

const basic = (name: string, password: string) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
const minute = 60_000
const required = 'Must specify two-factor authentication OTP code.'

/** Ada with codes from an app. */
async function openWithApp() {
  const forge = await openForge()
  const ada = await forge.person('ada')
  const { db, vault } = forge.belfry
  const secret = new Secret({ size: 20 }).base32
  const code = () => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: forge.clock.now().getTime() })
  const user = await loadUser(db, 'ada')
  const recovery = await newRecoveryCodes()
  await db.transaction((transaction) => enableApp(transaction, vault, user, { secret, code: code(), recovery }))
  const byPassword = forge.nobody.with({ authorization: basic('ada', "ada's password") })
  forge.clock.advance(minute)
  return Object.assign(forge, { ada, byPassword, code })
}

async function assertRequired(answer: Response, delivery: 'app' | 'sms') {
  assert.equal((await expect(401, answer)).message, required)
  assert.equal(answer.headers.get('x-service-otp'), `required; ${delivery}`)
}

/** The answer where no code is accepted. */
async function assertNeedsToken(answer: Response) {
  assert.match((await expect(401, answer)).message, /Use a personal access token instead of the password\.$/)
  for (const name of ['x-service-otp', 'x-github-otp']) assert.equal(answer.headers.get(name), null)
}

test('with a second factor, a password alone is asked for a code at /authorizations, and for a token elsewhere', async () => {
  await using forge = await openWithApp()
  const { byPassword } = forge
  for (const path of ['/authorizations', '/applications/grants', '/authorizations/1']) {
    await assertRequired(await byPassword.get(path), 'app')
  }
  for (const path of ['/', '/user', '/users/ada', '/user/keys', '/nothing/here']) {
    await assertNeedsToken(await byPassword.get(path))
    await assertNeedsToken(await byPassword.with({ accept: 'application/vnd.github+json' }).get(path))
  }
  await assertRequired(await byPassword.post('/authorizations', { note: 'n' }), 'app')
  assert.equal((await forge.ada.get('/user')).status, 200, 'a token needs no code')
  assert.equal((await forge.nobody.with({ authorization: basic('ada', forge.ada.token) }).get('/user')).status, 200)
  const wrong = await forge.nobody.with({ authorization: basic('ada', 'wrong') }).get('/authorizations')
  assert.equal((await expect(401, wrong)).message, 'Bad credentials')
  assert.equal(wrong.headers.get('x-service-otp'), null, 'nobody learns of it without the password')
})

test('a code is taken on /authorizations only, once', async () => {
  await using forge = await openWithApp()
  const { byPassword, code } = forge
  const now = code()
  const withCode = byPassword.with({ 'X-Service-OTP': now })
  await assertNeedsToken(await withCode.get('/user'))
  const { token } = await expect(201, await withCode.post('/authorizations', { note: 'first' }))
  assert.equal((await forge.nobody.with({ authorization: `token ${token}` }).get('/user')).status, 200)
  await assertRequired(await withCode.post('/authorizations', { note: 'again' }), 'app')
  for (const wrong of ['000000', '', 'x', '1234567', now.slice(1)]) {
    if (wrong !== now) await assertRequired(await byPassword.with({ 'X-Service-OTP': wrong }).get('/authorizations'), 'app')
  }
  forge.clock.advance(minute)
  assert.equal((await byPassword.with({ 'X-GitHub-OTP': code() }).get('/authorizations')).status, 200)
  forge.clock.advance(minute)
  const old = code()
  forge.clock.advance(5 * minute)
  await assertRequired(await byPassword.with({ 'X-Service-OTP': old }).get('/authorizations'), 'app')
})

test('the older dialect has its own name for the header', async () => {
  await using forge = await openWithApp()
  const answer = await forge.byPassword.with({ accept: 'application/vnd.github+json' }).get('/authorizations')
  assert.equal((await expect(401, answer)).message, required)
  assert.equal(answer.headers.get('x-github-otp'), 'required; app')
  assert.equal(answer.headers.get('x-service-otp'), null)
})

test('codes by text message are sent when they are asked for, and say so', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const { db, send_text } = forge.belfry
  const user = await loadUser(db, 'ada')
  const sent = () => /\d{6}/.exec(forge.texts.at(-1)?.text ?? '')?.[0] ?? ''
  await sendCode(db, send_text, user, '+4915112345678')
  const recovery = await newRecoveryCodes()
  await db.transaction((transaction) => enableText(transaction, user, { phone: '+4915112345678', code: sent(), recovery }))
  forge.clock.advance(2 * minute)
  const byPassword = forge.nobody.with({ authorization: basic('ada', "ada's password") })
  await assertRequired(await byPassword.post('/authorizations', { note: 'n' }), 'sms')
  assert.equal(forge.texts.length, 2)
  assert.equal(forge.texts[1]?.phone, '+4915112345678')
  await assertRequired(await byPassword.get('/authorizations'), 'sms')
  assert.equal(forge.texts.length, 2, 'one a minute')
  const withCode = byPassword.with({ 'X-Service-OTP': sent() })
  assert.equal((await withCode.post('/authorizations', { note: 'n' })).status, 201)
  await assertRequired(await withCode.get('/authorizations'), 'sms')
  forge.clock.advance(2 * minute)
  await assertNeedsToken(await byPassword.get('/user'))
  assert.equal(forge.texts.length, 2, 'no code is sent that could not be used')
  await assertRequired(await byPassword.get('/authorizations'), 'sms')
  forge.clock.advance(11 * minute)
  await assertRequired(await byPassword.with({ 'X-Service-OTP': sent() }).get('/authorizations'), 'sms')
})

test('after ten wrong passwords, an account takes none for a quarter of an hour; tokens go on', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  const by = (name: string, password: string) => forge.nobody.with({ authorization: basic(name, password) })
  for (let tries = 0; tries < 10; tries++) {
    assert.equal((await by(tries % 2 ? 'ADA' : 'ada', 'wrong').get('/user')).status, 401)
    forge.clock.advance(1000)
  }
  await assertSlowed(forge)
  assert.equal((await ada.get('/user')).status, 200)
  assert.equal((await by('ada', ada.token).get('/user')).status, 200)
  await forge.person('ben')
  assert.equal((await by('ben', "ben's password").get('/user')).status, 200, 'others are not held up')
  forge.clock.advance(14 * minute)
  await assertSlowed(forge)
  forge.clock.advance(2 * minute)
  assert.equal((await by('ada', "ada's password").get('/user')).status, 200)
})

async function assertSlowed(forge: Forge) {
  for (const path of ['/user', '/authorizations', '/users/ada']) {
    const answer = await forge.nobody.with({ authorization: basic('ada', "ada's password") }).get(path)
    const { message } = await expect(403, answer)
    assert.equal(message, 'Maximum number of login attempts exceeded. Please try again later.')
  }
}

test('wrong tokens are not counted as wrong passwords', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  const wrong = `${ada.token.slice(0, -3)}xyz`
  for (let tries = 0; tries < 60; tries++) {
    const authorization = tries % 2 ? basic('ada', wrong) : `token ${wrong}`
    assert.equal((await forge.nobody.with({ authorization }).get('/user')).status, 401)
  }
  assert.equal((await forge.nobody.with({ authorization: basic('ada', "ada's password") }).get('/user')).status, 200)
})
