import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadUser } from '#identity/accounts.ts'
import { openSession } from '#identity/sessions.ts'
import { type Client, expect, injecting, openForge } from '#test/forge.ts'

const inject = injecting(openForge)

/** Every administration request, on an existing user. */
const acts: Record<string, (client: Client) => Promise<Response>> = {
  'make a user': (client) => client.post('/admin/users', { login: 'made', email: 'made@example.com' }),
  'make an organization': (client) => client.post('/admin/organizations', { login: 'made', admin: 'ben' }),
  'make a token': (client) => client.post('/admin/users/ben/authorizations', { scopes: ['repo'] }),
  'end tokens': (client) => client.delete('/admin/users/ben/authorizations'),
  promote: (client) => client.put('/users/ben/site_admin'),
  demote: (client) => client.delete('/users/ben/site_admin'),
  unsuspend: (client) => client.delete('/users/ben/suspended'),
}

test('to anyone but a site admin with the scope, administration does not exist', inject(async (forge) => {
  const ada = await forge.person('ada')
  await forge.person('ben')
  const bold = await forge.tokenFor('ada', ['site_admin', 'repo'])
  const meek = await forge.tokenFor('admin', ['repo', 'admin:org', 'user'])
  for (const [act, run] of Object.entries(acts)) {
    for (const client of [ada, ada.versioned, bold, meek]) {
      const { message } = await expect(404, await run(client))
      assert.equal(message, 'Not Found', act)
    }
    for (const nobody of [forge.nobody, forge.nobodyVersioned]) {
      assert.equal((await expect(401, await run(nobody))).message, 'Requires authentication', act)
    }
  }
  assert.equal((await forge.nobody.get('/users/made')).status, 404)
  assert.equal((await forge.nobody.read('/users/ben')).site_admin, false)
}))

test('a site admin creates users, who can sign in when they have a password', inject(async ({ admin, web, nobody }) => {
  const answer = await admin.post('/admin/users', { login: 'Mona', email: 'mona@example.com', password: 'a long secret' })
  assert.equal(answer.headers.get('location'), `${web}/api/v3/users/Mona`)
  assert.partialDeepStrictEqual(await expect(201, answer), { login: 'Mona', type: 'User', site_admin: false })
  const mona = nobody.with({ authorization: `Basic ${btoa('mona:a long secret')}` })
  assert.equal((await mona.read('/user')).email, 'mona@example.com')
  await expect(201, await admin.versioned.post('/admin/users', { login: 'silent', email: 'silent@example.com' }))
  const silent = nobody.with({ authorization: `Basic ${btoa('silent:')}` })
  assert.equal((await silent.get('/user')).status, 401)
  assert.equal((await admin.post('/admin/users', { login: 'weak', password: 'short' })).status, 422)
  assert.equal((await admin.post('/admin/users', { email: 'nameless@example.com' })).status, 422)
}))

test('a site admin creates an organization with its first owner', inject(async (forge) => {
  const ada = await forge.person('ada')
  const wanted = { login: 'acme', admin: 'ADA', profile_name: 'Acme Inc.' }
  const answer = await forge.admin.post('/admin/organizations', wanted)
  assert.equal(answer.headers.get('location'), `${forge.web}/api/v3/orgs/acme`)
  assert.partialDeepStrictEqual(await expect(201, answer), { login: 'acme', url: `${forge.web}/api/v3/orgs/acme` })
  assert.equal((await ada.read('/user/memberships/orgs/acme')).role, 'admin')
  assert.equal((await ada.read('/orgs/acme')).name, 'Acme Inc.')
  for (const admin of ['nobody-here', 'acme']) {
    const { errors } = await expect(422, await forge.admin.post('/admin/organizations', { login: 'other', admin }))
    assert.partialDeepStrictEqual(errors, [{ resource: 'Organization', code: 'invalid', field: 'admin' }])
  }
  assert.equal((await forge.admin.post('/admin/organizations', { login: 'acme_two', admin: 'ada' })).status, 422)
}))

test('of concurrent requests for one login, one succeeds', inject(async ({ admin }) => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      index % 2
        ? admin.post('/admin/users', { login: 'Acme', email: `${index}@example.com` })
        : admin.post('/admin/organizations', { login: 'acme', admin: 'admin' }),
    ),
  )
  assert.deepEqual(answers.map((answer) => answer.status).sort(), [201, ...Array<number>(19).fill(422)])
}))

test('a token created for a user has exactly the requested scopes', inject(async ({ person, admin, nobody, tokenFor }) => {
  const ada = await person('ada')
  await ada.owns('secret', { private: true })
  const asked = { scopes: ['user:follow', 'repo', 'public_repo', 'repo'] }
  const made = await expect(201, await admin.post('/admin/users/ADA/authorizations', asked))
  assert.match(made.token, /^bfp_[0-9A-Za-z]{36}$/)
  assert.deepEqual(made.scopes, ['repo', 'user:follow'])
  assert.equal(made.token_last_eight, made.token.slice(-8))
  assert.match(made.hashed_token, /^[0-9a-f]{64}$/)
  assert.equal(made.user.login, 'ada')
  assert.equal(made.app.client_id, '0'.repeat(20))
  const actor = nobody.with({ authorization: `token ${made.token}` })
  const seen = await actor.get('/repos/ada/secret')
  assert.equal(seen.status, 200)
  assert.equal(seen.headers.get('x-oauth-scopes'), 'repo, user:follow')
  assert.equal((await actor.put('/user/following/admin')).status, 204)
  assert.equal((await actor.patch('/user', { name: 'Ada' })).status, 403)
  const bare = await tokenFor('ada', [])
  assert.equal((await bare.get('/user')).headers.get('x-oauth-scopes'), '')
  assert.equal((await bare.get('/repos/ada/secret')).status, 404)
}))

test('a token needs existing scopes and a user', inject(async ({ person, organization, admin }) => {
  const ada = await person('ada')
  await organization('acme', ada)
  const refused = await expect(422, await admin.post('/admin/users/ada/authorizations', { scopes: ['repo', 'constructor'] }))
  assert.partialDeepStrictEqual(refused.errors, [{ code: 'invalid', field: 'scopes' }])
  assert.match(refused.errors[0].message, /constructor/)
  assert.equal((await admin.post('/admin/users/ada/authorizations', { scopes: 'repo' })).status, 422)
  assert.equal((await admin.post('/admin/users/acme/authorizations', { scopes: [] })).status, 404)
  assert.equal((await admin.post('/admin/users/nobody-here/authorizations', { scopes: [] })).status, 404)
}))

test('a site admin revokes the tokens that admins created for a user', inject(async ({ person, admin }) => {
  const [ada, ben] = [await person('ada'), await person('ben')]
  assert.equal((await ada.get('/user')).status, 200)
  assert.equal((await admin.delete('/admin/users/ada/authorizations')).status, 204)
  assert.equal((await expect(401, await ada.get('/user'))).message, 'Bad credentials')
  assert.equal((await ben.get('/user')).status, 200)
  assert.equal((await admin.delete('/admin/users/ada/authorizations')).status, 404)
}))

test('site admins promote and demote others, but not themselves', inject(async (forge) => {
  const ada = await forge.person('ada')
  await forge.organization('acme', ada)
  const powerful = await forge.tokenFor('ada', ['site_admin'])
  assert.equal((await powerful.put('/users/ada/site_admin')).status, 404)
  assert.equal((await forge.admin.put('/users/ada/site_admin')).status, 204)
  assert.equal((await forge.nobody.read('/users/ada')).site_admin, true)
  assert.equal((await powerful.post('/admin/users', { login: 'new', email: 'new@example.com' })).status, 422, 'a reserved name')
  assert.equal((await powerful.delete('/users/ada/site_admin')).status, 403)
  assert.equal((await powerful.delete('/users/admin/site_admin')).status, 204)
  assert.equal((await forge.admin.delete('/users/ada/site_admin')).status, 404)
  for (const answer of [await powerful.put('/users/acme/site_admin'), await powerful.delete('/users/acme/site_admin')]) {
    assert.equal(answer.status, 404)
  }
}))

const basic = (name: string, password: string) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`

test('suspension locks a user out everywhere at once, and ends without a loss', inject(async ({ person, nobody, admin }) => {
  const ada = await person('ada')
  const byPassword = nobody.with({ authorization: basic('ada', "ada's password") })
  const byToken = [ada, ada.versioned, nobody.with({ authorization: basic('ada', ada.token) })]
  const doors = [...byToken, byPassword]
  // Before the suspension, so that caches hold the token.
  for (const door of doors) assert.equal((await door.get('/user')).status, 200)
  assert.equal((await admin.put('/users/ada/suspended', { reason: 'asked for it' })).status, 204)
  for (const path of ['/user', '/users/ada', '/', '/authorizations']) {
    for (const door of byToken) assert.equal((await expect(401, await door.get(path))).message, 'Bad credentials', path)
    // Only a caller with the right password learns the reason.
    assert.match((await expect(403, await byPassword.get(path))).message, /^This account is suspended\./, path)
  }
  assert.equal((await admin.put('/users/ada/suspended')).status, 204, 'again changes nothing')
  assert.equal((await admin.delete('/users/ada/suspended')).status, 204)
  for (const door of doors) assert.equal((await door.get('/user')).status, 200)
}))

test('a site admin resets a password by API: a given one, or one that is shown once', inject(async ({
  person,
  nobody,
  admin,
}) => {
  const ada = await person('ada')
  const opens = async (password: string) =>
    (await nobody.with({ authorization: basic('ada', password) }).get('/user')).status === 200
  const made = await expect(200, await admin.put('/admin/users/ada/password'))
  assert.equal(made.login, 'ada')
  assert.match(made.password, /^\w{20}$/)
  assert.ok((await opens(made.password)) && !(await opens("ada's password")))
  const given = await expect(
    200,
    await admin.put('/admin/users/ada/password', { password: 'long enough', disable_two_factor: true }),
  )
  assert.deepEqual(given, { login: 'ada', password: null })
  assert.ok(await opens('long enough'))
  assert.equal((await ada.get('/user')).status, 200, 'tokens still work')
  assert.equal((await admin.put('/admin/users/ada/password', { password: 'short' })).status, 422)
  assert.equal((await admin.put('/admin/users/admin/password')).status, 403)
  assert.equal((await ada.put('/admin/users/admin/password')).status, 404)
}))

test('a suspended user’s sessions end', inject(async ({ person, belfry, web, admin }) => {
  await person('ada')
  const { db } = belfry
  const user = await loadUser(db, 'ada')
  const session = await db.transaction((transaction) => openSession(transaction, user, { address: '', user_agent: '' }, false))
  const look = () => fetch(`${web}/settings/keys`, { headers: { cookie: `belfry_session=${session}` }, redirect: 'manual' })
  assert.equal((await look()).status, 200)
  assert.equal((await admin.put('/users/ada/suspended')).status, 204)
  assert.equal((await look()).status, 303)
  assert.equal((await admin.delete('/users/ada/suspended')).status, 204)
  assert.equal((await look()).status, 303, 'for good')
}))

test('only site admins suspend, only users, and not themselves', inject(async ({ person, organization, nobody, admin }) => {
  const [ada] = [await person('ada'), await person('ben')]
  await organization('acme', ada)
  assert.equal((await ada.put('/users/ben/suspended')).status, 404)
  assert.equal((await ada.delete('/users/ben/suspended')).status, 404)
  assert.equal((await nobody.put('/users/ben/suspended')).status, 401)
  assert.equal((await admin.put('/users/acme/suspended')).status, 404)
  assert.equal((await admin.delete('/users/acme/suspended')).status, 404)
  assert.equal((await admin.put('/users/nobody-here/suspended')).status, 404)
  assert.equal((await admin.put('/users/admin/suspended')).status, 403)
  assert.equal((await admin.put('/users/ben/suspended', { reason: 7 })).status, 422)
}))

test('a renamed account keeps its repositories, and its former login leads to them', inject(async (forge) => {
  const { admin, nobody } = forge
  const ada = await forge.person('ada')
  await forge.organization('acme', ada)
  await ada.owns('engine')
  await expect(200, await ada.patch('/repos/ada/engine', { name: 'motor' }))
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'plans', private: true }))
  assert.equal((await ada.patch('/admin/users/ada', { login: 'lovelace' })).status, 404, 'only for site admins')
  const { url } = await expect(202, await admin.patch('/admin/users/ada', { login: 'lovelace' }))
  assert.equal((await nobody.read(url.replace(/.*\/api\/v3/, ''))).login, 'lovelace')
  await expect(202, await admin.patch('/admin/organizations/acme', { login: 'works' }))
  assert.equal((await nobody.get('/users/ada')).status, 404)
  for (const name of ['engine', 'motor']) {
    const moved = await nobody.get(`/repos/ada/${name}`)
    assert.equal(moved.status, 301)
    assert.equal(
      (await nobody.read((moved.headers.get('location') ?? '').replace(/.*\/api\/v3/, ''))).full_name,
      'lovelace/motor',
    )
  }
  assert.equal((await ada.get('/repos/acme/plans')).status, 301)
  assert.equal((await nobody.get('/repos/acme/plans')).status, 404)
  assert.equal((await nobody.get('/repos/other/motor')).status, 404)
  for (const login of ['ADA', 'acme', 'works']) {
    const { errors } = await expect(422, await admin.post('/admin/users', { login, email: 'x@example.com' }))
    assert.partialDeepStrictEqual(errors, [{ resource: 'User', field: 'login', code: 'already_exists' }])
  }
  assert.equal((await admin.patch('/admin/users/lovelace', { login: 'settings' })).status, 422)
  await expect(202, await admin.patch('/admin/users/lovelace', { login: 'ada' }))
  assert.equal((await nobody.read('/repos/ada/motor')).full_name, 'ada/motor')
  assert.equal((await nobody.get('/repos/lovelace/motor')).status, 301)
}))

test('a deleted user takes their repositories along, and leaves what they wrote elsewhere', inject(async (forge) => {
  const { admin, nobody } = forge
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  const { id } = await ben.owns('toys')
  await expect(201, await ben.post('/repos/ada/engine/issues', { title: 'Smoke' }))
  await forge.organization('acme', ben)
  assert.equal((await admin.delete('/admin/users/admin')).status, 403)
  const refused = await expect(403, await admin.delete('/admin/users/ben'))
  assert.match(refused.message, /last owner of acme/)
  await expect(200, await ben.put('/orgs/acme/memberships/ada', { role: 'admin' }))
  assert.equal((await ada.delete('/admin/users/ben')).status, 404)
  assert.equal((await admin.delete('/admin/users/ben')).status, 204)
  assert.equal((await nobody.get('/users/ben')).status, 404)
  assert.equal((await nobody.get(`/repositories/${id}`)).status, 404)
  assert.equal((await ben.get('/user')).status, 401)
  assert.equal((await nobody.read('/repos/ada/engine/issues/1')).user, null)
  await nobody.read('/repos/ada/engine/events')
  assert.deepEqual(await ada.read('/orgs/acme/members').then((people: { login: string }[]) => people.length), 1)
}))
