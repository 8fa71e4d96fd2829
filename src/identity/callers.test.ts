import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Database } from '#platform/database.ts'
import { patient } from '#test/databases.ts'
import { expect, type Forge, openForge } from '#test/forge.ts'
import { Authenticator } from './callers.ts'

const basic = (name: string, password: string) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
const as = (forge: Forge, authorization: string) => forge.nobody.with({ authorization })

test('a token is taken in every form that clients send it, in letters of either case', async () => {
  await using forge = await openForge()
  const { token } = await forge.person('Ada')
  for (const header of [
    `token ${token}`,
    `TOKEN ${token}`,
    `Bearer ${token}`,
    `bearer   ${token}`,
    basic('Ada', token),
    basic('aDA', token).replace('Basic', 'basic'),
    basic('x-access-token', token),
    basic('', token),
    basic(token, ''),
    basic(token, 'x-oauth-basic').replace('Basic', 'BASIC'),
  ]) {
    for (const client of [as(forge, header), forge.nobodyVersioned.with({ authorization: header })]) {
      assert.equal((await client.read('/user')).login, 'Ada', header)
    }
  }
})

test('a password is taken by Basic, with all that its owner may do', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('secret', { private: true })
  for (const name of ['ada', 'ADA']) {
    const answer = await as(forge, basic(name, "ada's password")).get('/repos/ada/secret')
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('x-oauth-scopes'), null, 'a password has no scopes')
  }
  const colons = { login: 'ben', email: 'ben@example.com', password: 'with: colons: and ümlauts' }
  await expect(201, await forge.admin.post('/admin/users', colons))
  assert.equal((await as(forge, basic('ben', colons.password)).read('/user')).login, 'ben')
})

test('wrong credentials are refused everywhere, also where none are needed', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await forge.organization('acme', ada)
  await ada.owns('engine')
  for (const header of [
    'token bfp_000000000000000000000000000000000000',
    `token ${ada.token.slice(0, -1)}`,
    `Bearer ${ada.token.toUpperCase()}`,
    `Digest ${ada.token}`,
    ada.token,
    'Bearer',
    'Basic',
    'Basic !!!',
    basic('ada', 'wrong password'),
    basic('ada', "ADA'S PASSWORD"),
    basic('ada', ''),
    basic('ada', ben.token),
    basic('nobody-here', "ada's password"),
    basic('acme', ''),
    basic('ada\0', "ada's password"),
    basic('ada', "ada's password\0"),
  ]) {
    // Guessing is slowed; the quarter of an hour that it counts for is over before the next.
    forge.clock.advance(16 * 60_000)
    for (const path of ['/', '/users/ada', '/repos/ada/engine', '/user', '/nowhere']) {
      const answer = await as(forge, header).get(path)
      const body = await expect(401, answer)
      assert.deepEqual(body, { message: 'Bad credentials', documentation_url: `${forge.web}/docs`, status: '401' }, header)
      assert.equal(answer.headers.get('x-oauth-scopes'), null)
    }
  }
})

test('the operator’s token may have any form, also as a Basic password', async () => {
  const token = 'an-operators-own-token-of-its-own-form'
  await using forge = await openForge({ settings: { BELFRY_ADMIN_TOKEN: token } })
  for (const header of [`token ${token}`, basic('admin', token), basic(token, 'x-oauth-basic')]) {
    assert.equal((await as(forge, header).read('/user')).login, 'admin')
  }
  assert.equal((await as(forge, basic('ada', token)).get('/user')).status, 401)
})

test('answers say which scopes a token has, and which ones the endpoint looks at', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const token = await forge.tokenFor('ada', ['user', 'notifications', 'public_repo', 'read:user'])
  for (const [path, accepted] of [
    ['/', ''],
    ['/user', 'read:user, user'],
    ['/repos/ada/engine', 'repo'],
    ['/user/orgs', 'read:org, user'],
    ['/user/repository_invitations', 'repo, repo:invite'],
  ] as const) {
    const answer = await token.get(path)
    assert.equal(answer.headers.get('x-oauth-scopes'), 'notifications, public_repo, user', path)
    assert.equal(answer.headers.get('x-accepted-oauth-scopes'), accepted, path)
  }
  const anonymous = await forge.nobody.get('/repos/ada/engine')
  assert.equal(anonymous.headers.get('x-oauth-scopes'), null)
  assert.equal((await ada.delete('/repos/ada/engine')).headers.get('x-accepted-oauth-scopes'), 'delete_repo')
})

test('a token without the scope is told which one is missing', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const bare = await forge.tokenFor('ada', [])
  const refused = await expect(403, await bare.delete('/repos/ada/engine'))
  assert.equal(refused.message, "Missing the 'delete_repo' scope.")
  assert.equal((await expect(403, await bare.patch('/user', {}))).message, "Missing the 'user' scope.")
  const several = await expect(403, await bare.post('/user/repos', { name: 'other' }))
  assert.equal(several.message, "Missing the 'public_repo' or 'repo' scope.")
  assert.equal((await bare.get('/repos/ada/engine')).status, 200, 'what is public needs none')
})

test('a wider scope holds the narrower ones', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await forge.organization('acme', ada)
  await forge.person('ben')
  for (const [scope, status] of [
    ['user:follow', 204],
    ['user', 204],
    ['read:user', 403],
  ] as const) {
    assert.equal((await (await forge.tokenFor('ada', [scope])).put('/user/following/ben')).status, status, scope)
  }
  for (const [scope, status] of [
    ['admin:org', 200],
    ['write:org', 200],
    ['read:org', 200],
    ['repo', 403],
  ] as const) {
    assert.equal((await (await forge.tokenFor('ada', [scope])).get('/orgs/acme/teams')).status, status, scope)
  }
})

test('a revoked token is out at once on the node that revoked it, and on every other within moments', async () => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await using elsewhere = new Database({ ...forge.belfry.db.pool.options, max: 2 }, forge.clock, patient)
  const otherNode = new Authenticator({ ...forge.belfry, db: elsewhere })
  const ask = () => otherNode.authenticate({ authorization: `token ${ada.token}`, address: '127.0.0.1', code: null })
  assert.equal((await ask()).user?.login, 'ada')
  await expect(200, await ada.get('/user'))
  await expect(204, await forge.admin.delete('/admin/users/ada/authorizations'))
  await expect(401, await ada.get('/user'))
  const refused = async () =>
    ask().then(
      () => false,
      () => true,
    )
  for (let waited = 0; !(await refused()); waited += 50) {
    assert.ok(waited < 10_000, 'the other node goes on taking it')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
})
