import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OAuthApp } from '@octokit/oauth-app'
import * as oauth from 'oauth4webapi'
import { sql } from '#platform/database.ts'
import { expect, type Forge, openForge } from '#test/forge.ts'
import { ask, authorizePath, consent, openWeather, type Registered, register, signIn, target } from '#test/oauth.ts'
import { Octokit } from '#test/octokit.ts'

const nothing = () => {}
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing }
const callback = 'https://weather.example/back'
const tokenOf = async (forge: Forge, app: Registered, code: string): Promise<string> => {
  const { access_token } = await ask(forge, { ...app, code })
  assert.match(access_token, /^bfo_\w{36}$/)
  return access_token
}
const works = async (forge: Forge, token: string) =>
  (await forge.nobody.with({ authorization: `Bearer ${token}` }).get('/user')).status === 200

test('an unchanged octokit app signs a person in, checks the token, resets it and ends it', async () => {
  await using scene = await openWeather()
  const { forge, app, ada } = scene
  const octokit = new OAuthApp({
    clientType: 'oauth-app',
    clientId: app.client_id,
    clientSecret: app.client_secret,
    Octokit: Octokit.defaults({ baseUrl: `${forge.web}/api/v3`, log: silent }),
  })
  const { url } = octokit.getWebFlowAuthorizationUrl({ state: 's1', scopes: ['repo', 'gist'] })
  assert.ok(url.startsWith(`${forge.web}/login/oauth/authorize?`), url)
  const back = target(await ada.fill(url, { decision: 'authorize' }))
  assert.equal(`${back.origin}${back.pathname}`, callback)
  assert.equal(back.searchParams.get('state'), 's1')
  const code = back.searchParams.get('code') ?? ''
  assert.ok(code.length >= 20)
  const { authentication } = await octokit.createToken({ code, state: 's1' })
  const { token } = authentication
  const answer = await forge.nobody.with({ authorization: `token ${token}` }).get('/user')
  assert.equal((await expect(200, answer)).login, 'ada')
  assert.equal(answer.headers.get('x-oauth-scopes'), 'gist, repo')
  assert.equal(answer.headers.get('x-oauth-client-id'), app.client_id)

  const checked = await octokit.checkToken({ token })
  assert.deepEqual(checked.data.scopes, ['gist', 'repo'])
  assert.equal(checked.data.user?.login, 'ada')
  assert.deepEqual(checked.data.app, { client_id: app.client_id, name: 'Weather', url: 'https://weather.example' })
  assert.equal(checked.data.token, token)
  const { authentication: fresh } = await octokit.resetToken({ token })
  assert.equal(await works(forge, token), false, 'the old one ended')
  assert.equal(await works(forge, fresh.token), true)
  await assert.rejects(octokit.checkToken({ token }), { status: 404 })
  assert.equal((await octokit.deleteToken({ token: fresh.token })).status, 204)
  assert.equal(await works(forge, fresh.token), false)
  await assert.rejects(octokit.deleteToken({ token: fresh.token }), { status: 404 })

  const again = await octokit.createToken({ code: await consent(ada, { client_id: app.client_id }) })
  const other = await octokit.createToken({ code: await consent(ada, { client_id: app.client_id }) })
  assert.equal((await octokit.deleteAuthorization({ token: again.authentication.token })).status, 204)
  assert.equal(await works(forge, other.authentication.token), false, 'all tokens of the grant ended')
  assert.equal((await ada.get(authorizePath({ client_id: app.client_id }))).status, 200, 'and the person is asked again')
})

test('a strict client of the standard gets a token with PKCE, by post and by Basic', async () => {
  await using scene = await openWeather()
  const { forge, app, ada } = scene
  const server: oauth.AuthorizationServer = {
    issuer: forge.web,
    authorization_endpoint: `${forge.web}/login/oauth/authorize`,
    token_endpoint: `${forge.web}/login/oauth/access_token`,
  }
  const client: oauth.Client = { client_id: app.client_id }
  for (const auth of [oauth.ClientSecretPost(app.client_secret), oauth.ClientSecretBasic(app.client_secret)]) {
    const verifier = oauth.generateRandomCodeVerifier()
    const state = oauth.generateRandomState()
    const path = authorizePath({
      client_id: app.client_id,
      redirect_uri: callback,
      response_type: 'code',
      scope: 'repo',
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })
    const first = await ada.get(path)
    const back = target(first.status === 303 ? first : await ada.fill(path, { decision: 'authorize' }))
    const parameters = oauth.validateAuthResponse(server, client, back, state)
    const answer = await oauth.authorizationCodeGrantRequest(server, client, auth, parameters, callback, verifier, {
      [oauth.allowInsecureRequests]: true,
    })
    assert.match(answer.headers.get('cache-control') ?? '', /no-store/)
    const result = await oauth.processAuthorizationCodeResponse(server, client, answer)
    assert.equal(result.token_type, 'bearer')
    assert.equal(result.scope, 'repo')
    assert.equal(await works(forge, result.access_token), true)
  }
})

test('the consent page says who asks for what, what is new, and where it leads; no is an answer too', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const app = await register(forge, { name: 'Weather <b>', owner: 'ada' })
  const ada = await signIn(forge, 'ada')
  const path = authorizePath({ client_id: app.client_id, scope: 'gist,nonsense user:email', state: 'x' })
  const page = await (await ada.get(path)).text()
  for (const text of [
    'Weather &lt;b&gt;',
    'by <strong>ada</strong>',
    'Make and change gists',
    'Read your e-mail',
    'https://weather.example',
  ]) {
    assert.ok(page.includes(text), text)
  }
  assert.ok(!page.includes('nonsense</code>') && !page.includes('It can already'))
  const back = target(await ada.fill(path, { decision: 'deny' }))
  assert.equal(`${back.origin}${back.pathname}`, callback)
  assert.deepEqual(Object.fromEntries(back.searchParams), {
    error: 'access_denied',
    error_description: 'The user has denied your application access.',
    error_uri: `${forge.web}/docs`,
    state: 'x',
  })
  await consent(ada, { client_id: app.client_id, scope: 'gist' })
  const wider = await (await ada.get(authorizePath({ client_id: app.client_id, scope: 'gist repo' }))).text()
  const [before = '', after = ''] = wider.split('It can already')
  assert.ok(before.includes('<code>repo</code>') && !before.includes('<code>gist</code>') && after.includes('<code>gist</code>'))
})

test('nobody is asked for what they allowed before; the token has what is asked for, or all of it when nothing is', async () => {
  await using scene = await openWeather()
  const { forge, app, ada, client_id } = scene
  const scopeAfter = async (parameters: Record<string, string>) => {
    const code = target(await ada.get(authorizePath({ client_id, ...parameters }))).searchParams.get('code') ?? ''
    return (await ask(forge, { ...app, code })).scope
  }
  assert.equal((await ada.get(authorizePath({ client_id }))).status, 200, 'the first time they are asked, even for nothing')
  await consent(ada, { client_id, scope: 'repo gist' })
  assert.equal(await scopeAfter({}), 'gist,repo')
  assert.equal(await scopeAfter({ scope: '' }), 'gist,repo', 'a parameter without a value counts as omitted')
  assert.equal(await scopeAfter({ scope: 'gist' }), 'gist')
  assert.equal(await scopeAfter({ scope: 'nonsense' }), '')
  assert.equal(
    await scopeAfter({ scope: 'public_repo repo:status' }),
    'public_repo,repo:status',
    'what repo holds is granted with it',
  )
  assert.equal((await ada.get(authorizePath({ client_id, scope: 'gist user' }))).status, 200, 'something new is asked for')
  await consent(ada, { client_id, scope: 'user' })
  assert.equal(await scopeAfter({}), 'gist,repo,user')
})

test('after an hour, consent asks for the password and goes on; an application on the web that was allowed before does not', async () => {
  await using scene = await openWeather()
  const { forge, ada, client_id } = scene
  const local = await register(forge, { name: 'Local', callback_url: 'http://127.0.0.1:4000/back' })
  await consent(ada, { client_id: local.client_id, scope: 'repo' })
  forge.clock.advance(3600_001)
  const path = authorizePath({ client_id, scope: 'repo', state: 's' })
  assert.equal(target(await ada.fill(path, { decision: 'deny' })).searchParams.get('error'), 'access_denied')
  const asked = await ada.fill(path, { decision: 'authorize' })
  assert.equal(asked.status, 403)
  const page = await asked.text()
  assert.ok(page.includes(`<input type="hidden" name="decision" value="authorize">`) && page.includes(`name="confirm_password"`))
  assert.equal((await ada.get(path)).status, 200, 'nothing is granted yet')
  const native = await ada.get(authorizePath({ client_id: local.client_id, scope: 'repo' }))
  assert.equal(native.status, 200, 'the secret of a program on the machine of the user is no secret')
  const given = target(await ada.fill(path, { decision: 'authorize', confirm_password: "ada's password" })).searchParams
  assert.ok(given.get('code'))
  assert.equal(given.get('state'), 's')
  forge.clock.advance(3600_001)
  assert.ok(target(await ada.get(path)).searchParams.get('code'))
})

test('ten tokens of a set work and the eleventh ends the oldest; after ten in an hour a person looks again', async () => {
  await using scene = await openWeather()
  const { forge, app, ada, client_id } = scene
  const other = await tokenOf(forge, app, await consent(ada, { client_id }))
  const tokens: string[] = []
  for (let made = 1; made < 10; made++) tokens.push(await tokenOf(forge, app, await consent(ada, { client_id, scope: 'gist' })))
  const path = authorizePath({ client_id, scope: 'gist' })
  const page = await ada.get(path)
  assert.equal(page.status, 200)
  assert.ok((await page.text()).includes('many tokens'))
  for (let made = 10; made <= 11; made++) tokens.push(await tokenOf(forge, app, await consent(ada, { client_id, scope: 'gist' })))
  assert.deepEqual(await Promise.all(tokens.map((token) => works(forge, token))), [false, ...Array(10).fill(true)])
  assert.equal(await works(forge, other), true, 'another set is counted for itself')
  forge.clock.advance(61 * 60_000)
  assert.equal((await ada.get(path)).status, 303)
})

test('the limit holds for tokens that are asked for at once', async () => {
  await using scene = await openWeather()
  const { forge, app, ada } = scene
  const codes: string[] = []
  for (let made = 0; made < 12; made++) codes.push(await consent(ada, { client_id: app.client_id }))
  const tokens = await Promise.all(codes.map((code) => tokenOf(forge, app, code)))
  const alive = await Promise.all(tokens.map((token) => works(forge, token)))
  assert.equal(alive.filter(Boolean).length, 10)
})

test('revoking ends tokens, codes under way and the keys that the application made, and nothing else', async () => {
  await using scene = await openWeather()
  const { forge, app, ada, client_id } = scene
  await forge.person('ben')
  const ben = await signIn(forge, 'ben')
  const scope = 'repo admin:public_key'
  const token = await tokenOf(forge, app, await consent(ada, { client_id, scope }))
  const bens = await tokenOf(forge, app, await consent(ben, { client_id, scope }))
  const pending = await consent(ada, { client_id })
  await forge.belfry.db.query(sql`
    insert into ssh_keys (user_id, title, key, fingerprint, added_by, application_id, created_at)
    select a.id, kind, 'ssh-ed25519 x', a.login || kind, a.id, case when kind = 'made' then p.id end, ${forge.belfry.db.now}
    from accounts a, applications p, unnest(array['made', 'own']) kind where a.login in ('ada', 'ben') and p.client_id = ${client_id}`)
  const path = `/settings/connections/applications/${client_id}`
  const list = await (await ada.get('/settings/applications')).text()
  assert.ok(list.includes(path) && list.includes('Weather'))
  assert.equal(target(await ada.fill(path, {})).pathname, '/settings/applications')
  assert.equal(await works(forge, token), false)
  assert.equal(await works(forge, bens), true)
  assert.equal((await ask(forge, { ...app, code: pending })).error, 'bad_verification_code')
  const keys = await forge.belfry.db.rows<{ fingerprint: string }>(sql`select fingerprint from ssh_keys order by fingerprint`)
  assert.deepEqual(
    keys.map((key) => key.fingerprint),
    ['adaown', 'benmade', 'benown'],
  )
  assert.equal((await ada.get(path)).status, 404)
  assert.equal((await ada.get(authorizePath({ client_id }))).status, 200, 'they are asked again')
})

test('the endpoints for applications know their own tokens only, and are for applications only', async () => {
  await using forge = await openForge()
  const person = await forge.person('ada')
  const [app, other] = [await register(forge), await register(forge, { name: 'Other' })]
  const ada = await signIn(forge, 'ada')
  const token = await tokenOf(forge, app, await consent(ada, { client_id: app.client_id }))
  const as = ({ client_id, client_secret }: Registered) =>
    forge.nobody.with({ authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` })
  const own = `/applications/${app.client_id}/token`
  assert.equal((await as(app).post(own, { access_token: token })).status, 200)
  assert.equal((await as(other).post(own, { access_token: token })).status, 404, 'in the path of another')
  assert.equal((await as(other).post(`/applications/${other.client_id}/token`, { access_token: token })).status, 404)
  assert.equal((await as(other).delete(`/applications/${other.client_id}/grant`, { access_token: token })).status, 404)
  assert.equal((await as(app).post(own, { access_token: person.token })).status, 404, 'a personal token is not the application’s')
  assert.equal((await as(app).post(own, {})).status, 422)
  assert.equal((await as({ ...app, client_secret: 'wrong' }).post(own, { access_token: token })).status, 401)
  assert.equal((await person.post(own, { access_token: token })).status, 401)
  assert.equal((await forge.nobody.post(own, { access_token: token })).status, 401)
  assert.equal(await works(forge, token), true)
})

test('site admins register applications; others find nothing there', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  const wanted = { name: 'Weather', url: 'https://weather.example', callback_url: callback, owner: 'ada' }
  const made = await expect(201, await forge.admin.post('/admin/applications', wanted))
  assert.match(made.client_id, /^[0-9a-f]{20}$/)
  assert.match(made.client_secret, /^[0-9a-f]{40}$/)
  assert.equal(made.owner, 'ada')
  assert.equal((await ada.post('/admin/applications', wanted)).status, 404)
  assert.equal((await forge.admin.post('/admin/applications', { ...wanted, owner: 'nobody' })).status, 422)
  assert.equal((await forge.admin.post('/admin/applications', { ...wanted, callback_url: 'javascript:alert(1)' })).status, 422)
})
