import assert from 'node:assert/strict'
import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { Contract } from '#test/activity/schemas.ts'
import { asApp, claimsOf, registerApp, signJwt } from '#test/apps.ts'
import { expect, injecting, pick, withPeople } from '#test/forge.ts'

const open = injecting(withPeople('ada', 'ben'))

test(
  'an app registers with secrets that are shown once, and its token gives it back',
  open(async ({ forge, ada, ben, admin, nobody }) => {
    const hook_attributes = { url: 'https://helper.example/hook' }
    const app = await registerApp(ada, { hook_attributes, default_events: ['issues', 'issue_comment'] })
    assert.match(app.pem, /^-----BEGIN RSA PRIVATE KEY-----\n/)
    assert.match(app.webhook_secret, /^[0-9a-f]{40}$/)
    for (const variant of ['self-hosted', 'versioned'] as const) {
      const contract = Contract.of(variant)
      assert.deepEqual(contract.check('apps/create-from-manifest', 201, 'application/json', app), [])
      const shown = await asApp(forge, app).read('/app')
      assert.deepEqual(contract.check('apps/get-authenticated', 200, 'application/json', shown), [])
      assert.deepEqual([shown.slug, shown.owner.login, shown.installations_count], ['octo-helper', 'ada', 0])
      assert.deepEqual(shown.permissions, { issues: 'write', metadata: 'read' })
      assert.deepEqual(shown.events, ['issue_comment', 'issues'])
      assert.ok(!('pem' in shown) && !('client_secret' in shown))
    }
    assert.deepEqual(pick(await ada.read('/user/apps'), 'slug'), ['octo-helper'])
    assert.equal((await ada.get('/apps/octo-helper')).status, 200)
    for (const other of [ben, nobody]) assert.equal((await other.get('/apps/octo-helper')).status, 404, 'it is private')
    const bot = await nobody.read('/users/octo-helper%5Bbot%5D')
    assert.deepEqual([bot.type, bot.login, bot.html_url], ['Bot', 'octo-helper[bot]', `${forge.web}/apps/octo-helper`])
    assert.equal((await nobody.get(bot.url)).status, 200)

    await forge.organization('acme', ada)
    const wanted = { name: 'Acme CI', url: 'https://acme.example', public: true }
    assert.equal((await ben.post('/orgs/acme/apps', wanted)).status, 404)
    const { slug } = await expect(201, await ada.post('/orgs/acme/apps', wanted))
    assert.equal((await nobody.read(`/apps/${slug}`)).owner.login, 'acme')
    const given = await expect(201, await admin.post('/admin/apps', { ...wanted, name: 'Third', owner: 'ben' }))
    assert.equal(given.owner.login, 'ben')
    assert.equal((await ada.post('/admin/apps', { ...wanted, owner: 'ada' })).status, 404)
  }),
)

test(
  'what an app may not be is refused with the reason',
  open(async ({ ada, nobody }) => {
    await registerApp(ada)
    const manifest = { name: 'Other', url: 'https://other.example' }
    for (const [wrong, field] of [
      [{ name: 'octo HELPER!' }, 'name'],
      [{ name: '???' }, 'name'],
      [{ url: 'nowhere' }, 'url'],
      [{ setup_url: 'javascript:alert(1)' }, 'setup_url'],
      [{ callback_urls: ['nowhere'] }, 'callback_url'],
      [{ default_permissions: { isues: 'read' } }, 'permissions'],
      [{ default_permissions: { issues: 'all' } }, 'permissions'],
      [{ default_permissions: { issues: 1 } }, 'default_permissions'],
      [{ default_events: ['push'] }, 'events'],
      [{ default_events: ['*'] }, 'events'],
      [{ default_events: ['constructor'] }, 'events'],
      [{ hook_attributes: { url: 'ftp://x' } }, 'url'],
    ] as const) {
      const { errors } = await expect(422, await ada.post('/user/apps', { ...manifest, ...wrong }))
      assert.equal(errors[0].field, field)
    }
    assert.equal((await nobody.post('/user/apps', manifest)).status, 401)
    assert.equal((await nobody.post(`/app-manifests/${'x'.repeat(40)}/conversions`)).status, 404)
  }),
)

test(
  'only a fresh token that a key of the app signed by RS256 is accepted',
  open(async ({ forge, ada, nobody }) => {
    const app = await registerApp(ada)
    const other = await registerApp(ada, { name: 'Other' })
    const claims = claimsOf(forge, app)
    const ask = async (jwt: string, scheme = 'Bearer') => {
      const answer = await nobody.with({ authorization: `${scheme} ${jwt}` }).get('/app')
      return answer.status === 200 ? 200 : `401 ${(await expect(401, answer)).message}`
    }
    const sign = (more: object, header?: object) => ask(signJwt(app.pem, { ...claims, ...more }, header))
    const undecodable = '401 A JSON web token could not be decoded'
    assert.equal(await sign({}), 200)
    assert.equal(await sign({ iss: app.id }), 200)
    assert.equal(await sign({ iss: app.client_id }), 200)
    assert.equal(await ask(signJwt(app.pem, claims), 'bearer'), 200)

    const times = (more: { iat?: number; exp?: number }) => sign(claimsOf(forge, app, more))
    assert.equal(await times({ iat: 55 }), 200, 'clocks differ')
    assert.match(String(await times({ iat: 90 })), /^401 'Issued at' claim/)
    assert.equal(await times({ exp: -55 }), 200)
    assert.match(String(await times({ exp: -65 })), /^401 'Expiration time' claim .* future time/)
    assert.equal(await times({ exp: 655 }), 200)
    assert.match(String(await times({ exp: 3600 })), /^401 'Expiration time' claim .* too far in the future/)
    for (const more of [{ exp: undefined }, { exp: 'soon' }, { iat: null }]) assert.match(String(await sign(more)), /^401 '/)

    assert.equal(await ask(signJwt(other.pem, claims)), undecodable, "another app's key")
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    assert.equal(await ask(signJwt(privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(), claims)), undecodable)
    assert.equal(await sign({ iss: '999999' }), undecodable, 'an unknown app')
    for (const iss of [undefined, null, '', '\0', {}, 1.5, -1]) assert.equal(await sign({ iss }), undecodable)

    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    for (const alg of ['none', 'None', 'HS256', 'RS384', 'PS256', undefined]) assert.equal(await sign({}, { alg }), undecodable)
    const unsigned = `${encode({ alg: 'none' })}.${encode(claims)}.`
    assert.equal(await ask(unsigned), undecodable)
    const head = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`
    for (const secret of [publicKey, createPublicKey(app.pem)].map((key) => key.export({ type: 'spki', format: 'pem' }))) {
      assert.equal(await ask(`${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`), undecodable)
    }
    const [first, , last] = signJwt(app.pem, claims).split('.')
    assert.equal(await ask(`${first}.${encode({ ...claims, iss: String(other.id) })}.${last}`), undecodable, 'changed claims')
    for (const text of ['', 'x', 'x.y', 'x.y.z', '..', 'e30.e30.e30', `${'x'.repeat(5000)}.x.x`, ada.token])
      assert.match(String(await ask(text)), /^401 /)
    assert.match(String(await ask(signJwt(app.pem, claims), 'token')), /^401 /)
    assert.equal((await nobody.get('/app')).status, 401)
    assert.equal((await asApp(forge, app).get('/user')).status, 401, 'an app is no user')
    assert.equal((await asApp(forge, app).get('/user/repos')).status, 401)
  }),
)
