import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asApp, registerApp } from '#test/apps.ts'
import { Client, expect, injecting, pick, withPeople } from '#test/forge.ts'
import { ask, authorizePath, consent, signIn } from '#test/oauth.ts'
import { checkPayload } from '#test/webhook-schemas.ts'
import { heardOf } from '#test/webhooks.ts'

/** Ben has two private repositories. Ada's app is installed on one of them. */
const open = injecting(async () => {
  const forge = await withPeople('ada', 'ben')()
  const { ada, ben } = forge
  const [engine] = [await ben.owns('engine', { private: true }), await ben.owns('secret', { private: true })]
  await ada.owns('private', { private: true })
  for (const name of ['engine', 'secret']) await expect(201, await ben.post(`/repos/ben/${name}/issues`, { title: 'Smoke' }))
  const app = await registerApp(ada, {
    public: true,
    callback_urls: ['https://helper.example/back'],
    hook_attributes: { url: 'belfry:listen' },
  })
  const installed = await expect(201, await ben.post('/user/installations', { app_slug: app.slug, repository_ids: [engine.id] }))
  const { client_id, client_secret } = app
  const visitor = await signIn(forge, 'ben')
  const as = (token: string) => new Client(`${forge.web}/api/v3`, { authorization: `Bearer ${token}` })
  const authorize = async () =>
    ask(forge, { client_id, client_secret, code: await consent(visitor, { client_id, scope: 'repo user' }) })
  const refresh = (refresh_token: string) => ask(forge, { client_id, client_secret, grant_type: 'refresh_token', refresh_token })
  return Object.assign(forge, { app, installed, visitor, as, authorize, refresh })
})

test(
  'a user lets an app act for them, in the repositories that it is installed on, within its permissions',
  open(async ({ app, installed, visitor, as, authorize, ada, ben }) => {
    const shown = await (await visitor.get(authorizePath({ client_id: app.client_id, scope: 'repo user' }))).text()
    for (const text of ['Octo Helper', '<code>issues</code>', 'installed on']) assert.ok(shown.includes(text), text)
    assert.ok(!shown.includes('<code>repo</code>'), 'an app has no scopes')
    const { access_token, ...rest } = await authorize()
    assert.match(access_token, /^bfu_/)
    const { refresh_token, ...lifetime } = rest
    assert.match(refresh_token, /^bfr_/)
    const expected = { expires_in: 28_800, refresh_token_expires_in: 15_897_600, scope: '', token_type: 'bearer' }
    assert.deepEqual(lifetime, expected)

    const caller = as(access_token)
    assert.equal((await caller.read('/user')).login, 'ben')
    const comment = await expect(201, await caller.post('/repos/ben/engine/issues/1/comments', { body: 'By hand' }))
    assert.deepEqual([comment.user.login, comment.user.type], ['ben', 'User'])
    for (const path of ['/repos/ben/secret', '/repos/ben/secret/issues/1', '/repos/ada/private'])
      assert.equal((await caller.get(path)).status, 404, path)
    assert.deepEqual(pick(await caller.read('/user/repos'), 'name'), ['engine'])
    for (const path of ['/repos/ben/engine/readme', '/repos/ben/engine/pulls', '/user/keys', '/authorizations', '/user/apps'])
      assert.equal((await caller.get(path)).status, 403, path)
    assert.equal((await caller.delete('/repos/ben/engine')).status, 403)

    const { installations } = await caller.read('/user/installations')
    assert.deepEqual(pick(installations, 'id'), [installed.id])
    const path = `/user/installations/${installed.id}/repositories`
    assert.deepEqual(pick((await caller.read(path)).repositories, 'name'), ['engine'])
    assert.equal((await ada.get(path)).status, 404)

    await expect(204, await ben.delete(`/user/installations/${installed.id}`))
    assert.equal((await caller.get('/repos/ben/engine')).status, 404)
    assert.equal((await caller.get('/user')).status, 200)
  }),
)

test(
  'a token of a user expires, and is refreshed once',
  open(async ({ clock, as, authorize, refresh }) => {
    const first = await authorize()
    clock.advance(28_801_000)
    assert.equal((await as(first.access_token).get('/user')).status, 401)
    const second = await refresh(first.refresh_token)
    assert.equal((await as(second.access_token).get('/user')).status, 200)
    assert.equal((await refresh(first.refresh_token)).error, 'bad_refresh_token', 'it is used')
    const third = await refresh(second.refresh_token)
    assert.equal((await as(second.access_token).get('/user')).status, 401, 'the former token ends')
    for (const wrong of ['', 'bfr_wrong', third.access_token]) assert.equal((await refresh(wrong)).error, 'bad_refresh_token')
    clock.advance(15_897_601_000)
    assert.equal((await refresh(third.refresh_token)).error, 'bad_refresh_token')
  }),
)

test(
  'a refresh token ends with the grant, with its code and with its app, and belongs to one app',
  open(async ({ forge, app, ada, visitor, as, authorize, refresh }) => {
    const { client_id, client_secret } = app
    const other = await registerApp(ada, { name: 'Other' })
    const first = await authorize()
    const stolen = { client_id: other.client_id, client_secret: other.client_secret, grant_type: 'refresh_token' }
    assert.equal((await ask(forge, { ...stolen, refresh_token: first.refresh_token })).error, 'bad_refresh_token')
    assert.equal((await as(first.access_token).get('/user')).status, 200)

    const code = await consent(visitor, { client_id })
    const twice = await ask(forge, { client_id, client_secret, code })
    assert.equal((await ask(forge, { client_id, client_secret, code })).error, 'bad_verification_code')
    assert.equal((await refresh(twice.refresh_token)).error, 'bad_refresh_token')
    assert.equal((await as(twice.access_token).get('/user')).status, 401)

    const again = await consent(visitor, { client_id })
    const refreshed = await refresh((await ask(forge, { client_id, client_secret, code: again })).refresh_token)
    assert.equal((await as(refreshed.access_token).get('/user')).status, 200)
    assert.equal((await ask(forge, { client_id, client_secret, code: again })).error, 'bad_verification_code')
    assert.equal((await as(refreshed.access_token).get('/user')).status, 401, 'a replayed code ends what was refreshed from it')
    assert.equal((await refresh(refreshed.refresh_token)).error, 'bad_refresh_token')

    const heard = await heardOf(forge, () => visitor.fill(`/settings/connections/applications/${client_id}`, {}))
    assert.deepEqual(
      heard.map(({ event, payload }) => `${event} ${payload.action} ${payload.sender.login}`),
      ['github_app_authorization revoked ben'],
    )
    for (const { event, payload } of heard) checkPayload(event, payload)
    assert.equal((await as(first.access_token).get('/user')).status, 401)
    assert.equal((await refresh(first.refresh_token)).error, 'bad_refresh_token')
    assert.equal((await asApp(forge, app).get('/app')).status, 200)
  }),
)

test(
  'no other way gives an app a token with scopes',
  open(async ({ forge, app, nobody }) => {
    const { client_id, client_secret } = app
    const basic = { authorization: `Basic ${Buffer.from("ben:ben's password").toString('base64')}` }
    const body = { client_id, client_secret, scopes: ['repo'], note: 'x' }
    assert.equal((await nobody.with(basic).post('/authorizations', body)).status, 422)
    assert.equal((await nobody.with(basic).put(`/authorizations/clients/${client_id}`, body)).status, 422)
    const { device_code, user_code } = await ask(forge, { client_id, scope: 'repo' }, '/login/device/code')
    const visitor = await signIn(forge, 'ben')
    await visitor.fill('/login/device', { user_code, decision: 'authorize' })
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
    const { access_token, scope } = await ask(forge, { client_id, device_code, grant_type })
    assert.match(access_token, /^bfu_/)
    assert.equal(scope, '')
  }),
)

test(
  'a token of a user does not work while the owner of the app is suspended',
  open(async ({ forge, as, authorize, refresh }) => {
    const { access_token, refresh_token } = await authorize()
    const reads = async (token: string) => (await as(token).get('/repos/ben/engine')).status
    await expect(204, await forge.admin.put('/users/ada/suspended'))
    assert.equal(await reads(access_token), 401)
    const renewed = await refresh(refresh_token)
    assert.equal(await reads(renewed.access_token), 401)
    await expect(204, await forge.admin.delete('/users/ada/suspended'))
    assert.equal(await reads(renewed.access_token), 200)
  }),
)
