import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOAuthDeviceAuth } from '@octokit/auth-oauth-device'
import { sql } from '#platform/database.ts'
import { openForge } from '#test/forge.ts'
import { ask, register, signIn } from '#test/oauth.ts'
import { Octokit } from '#test/octokit.ts'

const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
const page = '/login/device'

async function open() {
  const forge = await openForge()
  await forge.person('ada')
  const { client_id } = await register(forge)
  const ada = await signIn(forge, 'ada')
  const start = (scope = 'gist') => ask(forge, { client_id, scope }, '/login/device/code')
  const poll = (device_code: string, more = {}) => ask(forge, { client_id, device_code, grant_type, ...more })
  const decide = async (user_code: string, decision: string) => (await ada.fillAndFollow(page, { user_code, decision })).text()
  return { forge, client_id, ada, start, poll, decide, [Symbol.asyncDispose]: () => forge[Symbol.asyncDispose]() }
}

test('an unchanged octokit device signs in, after it had to wait', async () => {
  await using scene = await open()
  const { forge, client_id, ada } = scene
  const shown: { user_code: string }[] = []
  const { request } = new Octokit({ baseUrl: `${forge.web}/api/v3` })
  let polls = 0
  // The forge's clock stands still: it goes on as far as the client would wait.
  const counted = request.defaults({
    request: {
      hook: async (send: typeof request, options: { url: string }) => {
        if (options.url.endsWith('/access_token') && polls++ > 0) {
          forge.clock.advance(5000)
          const text = await (
            await ada.fillAndFollow(page, { user_code: shown[0]?.user_code ?? '', decision: 'authorize' })
          ).text()
          assert.ok(text.includes('Weather is connected'))
        }
        return send(options as never)
      },
    },
  })
  const auth = createOAuthDeviceAuth({
    clientType: 'oauth-app',
    clientId: client_id,
    scopes: ['gist', 'public_repo'],
    onVerification: (verification) => {
      assert.equal(verification.verification_uri, `${forge.web}/login/device`)
      assert.match(verification.user_code, /^[A-Z]{4}-[A-Z]{4}$/)
      assert.deepEqual([verification.expires_in, verification.interval, verification.device_code.length], [900, 5, 40])
      shown.push(verification)
      // The client waits this many real seconds between polls.
      verification.interval = 0
    },
    request: counted as never,
  })
  const { token } = await auth({ type: 'oauth' })
  assert.equal(polls, 2)
  const answer = await forge.nobody.with({ authorization: `token ${token}` }).get('/user')
  assert.equal(answer.headers.get('x-oauth-scopes'), 'gist, public_repo')
})

test('a device is told to wait, to slow down, and that it is too late', async () => {
  await using scene = await open()
  const { forge, start, poll } = scene
  const { device_code } = await start()
  assert.equal((await poll(device_code)).error, 'authorization_pending')
  const hasty = await poll(device_code)
  assert.deepEqual([hasty.error, hasty.interval, hasty.error_uri], ['slow_down', 10, `${forge.web}/docs`])
  assert.ok(hasty.error_description)
  forge.clock.advance(9000)
  assert.deepEqual((await poll(device_code)).interval, 15)
  forge.clock.advance(15_000)
  assert.equal((await poll(device_code)).error, 'authorization_pending')
  forge.clock.advance(900_000)
  assert.equal((await poll(device_code)).error, 'expired_token')
})

test('what a person decides is what the device gets, once', async () => {
  await using scene = await open()
  const { forge, ada, client_id, start, poll, decide } = scene
  const refused = await start()
  assert.ok((await decide(refused.user_code, 'deny')).includes('was not connected'))
  assert.equal((await poll(refused.device_code)).error, 'access_denied')
  const { device_code, user_code } = await start('repo nonsense')
  const typed = user_code.toLowerCase().replace('-', ' ')
  const consent = await (await ada.fill(page, { user_code: typed })).text()
  for (const text of [user_code, 'Weather', '<code>repo</code>', 'started this yourself']) assert.ok(consent.includes(text), text)
  assert.ok((await decide(typed, 'authorize')).includes('is connected'))
  assert.ok((await decide(user_code, 'deny')).includes('No device waits'), 'decided is decided')
  const { access_token, scope, token_type } = await poll(device_code)
  assert.deepEqual([scope, token_type], ['repo', 'bearer'])
  assert.match(access_token, /^bfo_/)
  forge.clock.advance(6000)
  assert.equal((await poll(device_code)).error, 'incorrect_device_code')
  const list = await (await ada.get('/settings/applications')).text()
  assert.ok(list.includes(client_id))
})

test('an approval that comes too late grants nothing', async (t) => {
  await using scene = await open()
  const { forge, ada, client_id, start } = scene
  const { user_code } = await start('repo')
  const { db } = forge.belfry
  let late: Promise<Response> | undefined
  // Another tab denies it after this one found the device, and before it decided.
  await db.transaction(async (transaction) => {
    await transaction.query(sql`update device_codes set allowed = false`)
    late = ada.fill(page, { user_code, decision: 'authorize' })
    await t.waitFor(async () => assert.ok((await db.rows(sql`select from pg_locks where not granted`)).length > 0), {
      interval: 10,
    })
  })
  assert.equal((await late)?.status, 422)
  assert.equal((await (await ada.get('/settings/applications')).text()).includes(client_id), false)
})

test('codes are of one application, are not guessed, and go with the grant', async () => {
  await using scene = await open()
  const { forge, ada, client_id, start, poll, decide } = scene
  const other = await register(forge, { name: 'Other' })
  const { device_code, user_code } = await start()
  assert.equal((await poll(device_code, { client_id: other.client_id })).error, 'incorrect_device_code')
  assert.equal((await poll('x'.repeat(40))).error, 'incorrect_device_code')
  assert.equal((await poll(device_code, { client_id: 'nobody' })).error, 'incorrect_client_credentials')
  assert.equal((await poll(device_code, { client_secret: 'wrong' })).error, 'incorrect_client_credentials')
  assert.equal((await ask(forge, { client_id: 'nobody' }, '/login/device/code')).error, 'incorrect_client_credentials')
  await decide(user_code, 'authorize')
  await ada.fill(`/settings/connections/applications/${client_id}`, {})
  assert.equal((await poll(device_code)).error, 'incorrect_device_code', 'revoked before it was fetched')
  for (let count = 0; count < 10; count++) assert.equal((await ada.fill(page, { user_code: 'BCDF-GHJK' })).status, 422)
  const { user_code: right } = await start()
  assert.equal((await ada.fill(page, { user_code: right, decision: 'authorize' })).status, 403, 'guessing is slowed')
  const nobody = await fetch(`${forge.web}${page}`, { redirect: 'manual' })
  assert.equal(nobody.headers.get('location'), '/login?return_to=%2Flogin%2Fdevice')
})

test('a device gets the scopes that it asks for, and all that were granted when it names none', async () => {
  await using scene = await open()
  const { forge, client_id, start, poll, decide } = scene
  const scopeOf = async (device: { device_code: string; user_code: string }) => {
    assert.match(await decide(device.user_code, 'authorize'), /is connected/)
    return (await poll(device.device_code)).scope
  }
  assert.equal(await scopeOf(await start('gist repo')), 'gist,repo')
  assert.equal(await scopeOf(await start('gist')), 'gist')
  assert.equal(await scopeOf(await ask(forge, { client_id }, '/login/device/code')), 'gist,repo')
})
