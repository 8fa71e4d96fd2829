import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { loadUser } from '#identity/accounts.ts'
import { setPassword } from '#identity/passwords.ts'
import { createApplication } from '#parts/oauth/applications.ts'
import { hashPassword } from '#platform/secrets.ts'
import { expect, openForge } from '#test/forge.ts'

const basic = (name: string, password: string) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`

/** Ada, by token and by password, and an application of hers. */
async function openDesk() {
  const forge = await openForge()
  const ada = await forge.person('ada')
  const byPassword = forge.nobody.with({ authorization: basic('ada', "ada's password") })
  const { db } = forge.belfry
  const owner = await loadUser(db, 'ada')
  const register = (name: string) =>
    db.transaction((transaction) =>
      createApplication(transaction, owner, owner, {
        name,
        url: 'https://app.example',
        callback_url: 'https://app.example/back',
      }),
    )
  const { client_id, client_secret } = await register('Bell')
  return Object.assign(forge, { ada, byPassword, register, client: { client_id, client_secret } })
}

test('a token is made by password, shown once, and listed without its text', async () => {
  await using forge = await openDesk()
  const wanted = { scopes: ['repo', 'public_repo', 'gist'], note: 'build server', note_url: 'https://ci.example' }
  const answer = await forge.byPassword.post('/authorizations', wanted)
  const made = await expect(201, answer)
  const url = `${forge.web}/api/v3/authorizations/${made.id}`
  assert.equal(answer.headers.get('location'), url)
  assert.match(made.token, /^bfp_[0-9A-Za-z]{36}$/)
  assert.partialDeepStrictEqual(made, {
    url,
    app: { name: 'build server', client_id: '00000000000000000000' },
    token_last_eight: made.token.slice(-8),
    hashed_token: createHash('sha256').update(made.token).digest('hex'),
    note: 'build server',
    note_url: 'https://ci.example',
    scopes: ['gist', 'repo'],
    created_at: '2026-02-03T04:05:06Z',
    expires_at: null,
    fingerprint: null,
    user: { login: 'ada' },
  })
  const user = await forge.nobody.with({ authorization: `token ${made.token}` }).get('/user')
  assert.equal(user.headers.get('x-oauth-scopes'), 'gist, repo')
  assert.deepEqual(await forge.byPassword.read('/authorizations'), [{ ...made, token: '' }])
  assert.deepEqual(await forge.byPassword.read(`/authorizations/${made.id}`), { ...made, token: '' })
})

test('a token is no password here, and nobody is nobody', async () => {
  await using forge = await openDesk()
  const { id } = await expect(201, await forge.byPassword.post('/authorizations', { note: 'mine' }))
  const clients = [forge.ada, forge.nobody.with({ authorization: basic('ada', forge.ada.token) })]
  for (const client of clients) {
    for (const answer of [
      await client.get('/authorizations'),
      await client.post('/authorizations', { note: 'another' }),
      await client.put('/authorizations/clients/x', { client_secret: 'y' }),
      await client.delete(`/authorizations/${id}`),
      await client.get('/applications/grants'),
    ]) {
      const body = await expect(403, answer)
      assert.equal(body.message, 'This API can only be accessed with username and password Basic Auth')
    }
  }
  assert.equal((await expect(401, await forge.nobody.get('/authorizations'))).message, 'Requires authentication')
})

test('what is wrong with a new token is said by field', async () => {
  await using forge = await openDesk()
  const refused = async (body: Record<string, unknown>) => await expect(422, await forge.byPassword.post('/authorizations', body))
  await expect(201, await forge.byPassword.post('/authorizations', { note: 'one', fingerprint: 'desk' }))
  const resource = 'OauthAccess'
  assert.partialDeepStrictEqual((await refused({ note: 'two', scopes: ['everything'] })).errors, [{ resource, field: 'scopes' }])
  for (const body of [{}, { scopes: ['repo'] }, { note: '' }]) {
    assert.deepEqual((await refused(body)).errors, [{ resource, code: 'missing_field', field: 'description' }])
  }
  assert.deepEqual((await refused({ note: 'one' })).errors, [{ resource, code: 'already_exists', field: 'description' }])
  assert.deepEqual((await refused({ note: 'two', fingerprint: 'desk' })).errors, [
    { resource, code: 'already_exists', field: 'fingerprint' },
  ])
  assert.equal((await forge.byPassword.post('/authorizations', { note: 7 })).status, 422)
  assert.equal((await forge.byPassword.post('/authorizations', { note: 'n', scopes: null })).status, 201)
  await forge.person('ben')
  const ben = forge.nobody.with({ authorization: basic('ben', "ben's password") })
  assert.equal((await ben.post('/authorizations', { note: 'one', fingerprint: 'desk' })).status, 201, 'names are per person')
})

test('of two calls at once with one note, one makes it', async () => {
  await using forge = await openDesk()
  const answers = await Promise.all([1, 2, 3, 4].map(() => forge.byPassword.post('/authorizations', { note: 'one' })))
  assert.deepEqual(answers.map((answer) => answer.status).sort(), [201, 422, 422, 422])
})

test('with an application’s credentials, the token is that application’s, and is counted in its grant', async () => {
  await using forge = await openDesk()
  const { byPassword, client } = forge
  const made = await expect(201, await byPassword.post('/authorizations', { ...client, scopes: ['gist'], note: 'a' }))
  assert.match(made.token, /^bfo_[0-9A-Za-z]{36}$/)
  assert.deepEqual(made.app, { name: 'Bell', url: 'https://app.example', client_id: client.client_id })
  const seen = await forge.nobody.with({ authorization: `token ${made.token}` }).get('/user')
  assert.equal(seen.headers.get('x-oauth-client-id'), client.client_id)
  await expect(201, await byPassword.post('/authorizations', { note: 'a' }))
  assert.equal((await byPassword.post('/authorizations', { ...client, note: 'a' })).status, 422)
  const another = await forge.register('Tower')
  const others = { client_id: another.client_id, client_secret: another.client_secret }
  assert.equal((await byPassword.post('/authorizations', { ...others, note: 'a' })).status, 201)
  await expect(201, await byPassword.post('/authorizations', { ...client, scopes: ['user', 'gist'], note: 'b' }))
  for (const wrong of [
    { ...client, client_secret: 'wrong' },
    { client_id: client.client_id },
    { ...client, client_id: others.client_id },
  ]) {
    const { message } = await expect(422, await byPassword.post('/authorizations', { ...wrong, note: 'c' }))
    assert.equal(message, 'Invalid Application client_id or secret.')
  }
  const ofBell = await byPassword.read(`/authorizations?client_id=${client.client_id}`)
  assert.deepEqual(
    ofBell.map((row: { note: string }) => row.note),
    ['a', 'b'],
  )
  assert.equal((await byPassword.read('/authorizations')).length, 4)
  const page = await byPassword.get('/authorizations?per_page=1&page=2')
  assert.match(page.headers.get('link') ?? '', /page=3.*rel="next"/)
  const grants = await byPassword.read('/applications/grants')
  assert.partialDeepStrictEqual(grants, [
    { app: { name: 'Bell', client_id: client.client_id }, scopes: ['gist', 'user'] },
    { app: { name: 'Tower' }, scopes: [] },
  ])
  assert.equal(grants[0].url, `${forge.web}/api/v3/applications/grants/${grants[0].id}`)
  assert.deepEqual(await byPassword.read(`/applications/grants/${grants[0].id}`), grants[0])
})

test('an application gets the token it has, or a new one', async () => {
  await using forge = await openDesk()
  const { byPassword, client } = forge
  const { client_id, client_secret } = client
  const path = `/authorizations/clients/${client_id}`
  const made = await expect(201, await byPassword.put(path, { client_secret, scopes: ['gist'], note: 'shared' }))
  assert.match(made.token, /^bfo_/)
  const answer = await byPassword.put(path, { client_secret, scopes: ['repo'] })
  assert.deepEqual(await expect(200, answer), { ...made, token: '' })
  assert.equal(answer.headers.get('location'), made.url)
  const desk = await expect(201, await byPassword.put(`${path}/desk`, { client_secret, scopes: ['gist'] }))
  assert.equal(desk.fingerprint, 'desk')
  assert.equal((await expect(200, await byPassword.put(`${path}/desk`, { client_secret }))).id, desk.id)
  assert.equal((await expect(200, await byPassword.put(path, { client_secret, fingerprint: 'desk' }))).id, desk.id)
  assert.equal((await byPassword.put(path, { client_secret: 'wrong' })).status, 422)
  assert.equal((await byPassword.put(path, {})).status, 422)
  assert.equal((await byPassword.put('/authorizations/clients/nobody', { client_secret })).status, 422)
})

test('a poll that is 304 shows the scopes that its token has now', async () => {
  await using forge = await openDesk()
  const { byPassword } = forge
  const made = await expect(201, await byPassword.post('/authorizations', { note: 'polls', scopes: ['repo', 'notifications'] }))
  const client = forge.nobody.with({ authorization: `token ${made.token}` })
  for (const path of ['/events', '/notifications', '/user', '/']) {
    await byPassword.patch(`/authorizations/${made.id}`, { scopes: ['repo', 'notifications'] })
    const etag = (await client.get(path)).headers.get('etag') ?? ''
    const poll = async () => {
      const { status, headers } = await client.with({ 'if-none-match': etag }).get(path)
      return [status, headers.get('x-oauth-scopes')]
    }
    for (const _ of [1, 2, 3]) assert.deepEqual(await poll(), [304, 'notifications, repo'], path)
    await expect(200, await byPassword.patch(`/authorizations/${made.id}`, { add_scopes: ['gist'] }))
    for (const _ of [1, 2, 3]) assert.deepEqual(await poll(), [304, 'gist, notifications, repo'], path)
  }
})

test('a poll shows nothing private any more once its token may not read it', async () => {
  await using forge = await openDesk()
  const { byPassword } = forge
  const made = await expect(201, await byPassword.post('/authorizations', { note: 'polls', scopes: ['repo', 'notifications'] }))
  const client = forge.nobody.with({ authorization: `token ${made.token}` })
  const ada = (await client.read('/user')).login
  await expect(201, await client.post('/user/repos', { name: 'secret', private: true }))
  await expect(204, await client.put(`/user/starred/${ada}/secret`))
  for (const path of [`/users/${ada}/events`, `/repos/${ada}/secret/events`, '/user/starred']) {
    await expect(200, await byPassword.patch(`/authorizations/${made.id}`, { add_scopes: ['repo'] }))
    for (const _ of [1, 2]) assert.match(await (await client.get(path)).text(), /secret/, path)
    await expect(200, await byPassword.patch(`/authorizations/${made.id}`, { remove_scopes: ['repo'] }))
    for (const _ of [1, 2]) assert.doesNotMatch(await (await client.get(path)).text(), /"secret"|\/secret/, path)
  }
})

test('a token’s scopes and names are changed, by one list at a time', async () => {
  await using forge = await openDesk()
  const { byPassword } = forge
  const made = await expect(201, await byPassword.post('/authorizations', { note: 'one', scopes: ['gist'] }))
  await expect(201, await byPassword.post('/authorizations', { note: 'two', fingerprint: 'there' }))
  const path = `/authorizations/${made.id}`
  const change = async (body: Record<string, unknown>) => expect(200, await byPassword.patch(path, body))
  assert.deepEqual((await change({ add_scopes: ['repo', 'public_repo'] })).scopes, ['gist', 'repo'])
  assert.deepEqual((await change({ remove_scopes: ['gist', 'user'] })).scopes, ['repo'])
  const changed = await change({ scopes: ['user'], note: 'renamed', note_url: 'https://x.example', fingerprint: 'here' })
  assert.partialDeepStrictEqual(changed, {
    scopes: ['user'],
    note: 'renamed',
    note_url: 'https://x.example',
    fingerprint: 'here',
    token: '',
  })
  const seen = await forge.nobody.with({ authorization: `token ${made.token}` }).get('/user')
  assert.equal(seen.headers.get('x-oauth-scopes'), 'user', 'the token itself is the same')
  assert.deepEqual((await change({ note: 'renamed' })).scopes, ['user'])
  for (const body of [
    { scopes: ['repo'], add_scopes: ['gist'] },
    { add_scopes: ['repo'], remove_scopes: ['gist'] },
    { add_scopes: ['nonsense'] },
    { note: 'two' },
    { note: '' },
    { fingerprint: 'there' },
  ]) {
    assert.equal((await byPassword.patch(path, body)).status, 422, JSON.stringify(body))
  }
  await forge.person('ben')
  const ben = forge.nobody.with({ authorization: basic('ben', "ben's password") })
  for (const answer of [await ben.get(path), await ben.patch(path, { note: 'x' }), await ben.delete(path)]) {
    assert.equal(answer.status, 404)
  }
  assert.equal((await byPassword.delete(path)).status, 204)
  assert.equal((await byPassword.delete(path)).status, 404)
  assert.equal((await forge.nobody.with({ authorization: `token ${made.token}` }).get('/user')).status, 401)
})

test('a revoked grant ends the application’s tokens and the keys it made, and nothing else', async () => {
  await using forge = await openDesk()
  const { ada, byPassword, client } = forge
  await ada.owns('engine')
  const scopes = ['admin:public_key', 'repo']
  const { token } = await expect(201, await byPassword.post('/authorizations', { ...client, scopes, note: 'a' }))
  const bell = forge.nobody.with({ authorization: `token ${token}` })
  await expect(201, await bell.post('/user/keys', { title: 'made by Bell', key: keys[0] ?? '' }))
  await expect(201, await bell.post('/repos/ada/engine/keys', { title: 'made by Bell', key: keys[1] ?? '' }))
  await expect(201, await ada.post('/user/keys', { title: 'my own', key: keys[2] ?? '' }))
  await expect(201, await ada.post('/repos/ada/engine/keys', { title: 'my own', key: keys[3] ?? '' }))
  const [{ id }] = await byPassword.read('/applications/grants')
  await forge.person('ben')
  const ben = forge.nobody.with({ authorization: basic('ben', "ben's password") })
  assert.equal((await ben.delete(`/applications/grants/${id}`)).status, 404)
  assert.equal((await byPassword.delete(`/applications/grants/${id}`)).status, 204)
  assert.equal((await bell.get('/user')).status, 401)
  assert.deepEqual(await byPassword.read('/applications/grants'), [])
  const titles = async (path: string) => (await ada.read(path)).map((key: { title: string }) => key.title)
  assert.deepEqual(await titles('/user/keys'), ['my own'])
  assert.deepEqual(await titles('/repos/ada/engine/keys'), ['my own'])
})

test('the operator’s token keeps its name, and no other has it', async () => {
  await using forge = await openDesk()
  const { db } = forge.belfry
  const hash = await hashPassword("admin's password")
  await db.transaction(async (transaction) => setPassword(transaction, await loadUser(transaction, 'admin'), hash))
  const admin = forge.nobody.with({ authorization: basic('admin', "admin's password") })
  const [{ id, note }] = await admin.read('/authorizations')
  assert.equal(note, 'BELFRY_ADMIN_TOKEN')
  const other = await expect(201, await admin.post('/authorizations', { note: 'other' }))
  for (const answer of [
    await admin.patch(`/authorizations/${id}`, { note: 'hidden' }),
    await admin.patch(`/authorizations/${other.id}`, { note }),
    await forge.byPassword.post('/authorizations', { note }),
  ]) {
    assert.partialDeepStrictEqual((await expect(422, answer)).errors, [{ field: 'description' }])
  }
})

/** Keys that are well formed, of no private half. */
const keys = [1, 2, 3, 4].map((fill) => {
  const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes])
  return `ssh-ed25519 ${Buffer.concat([field(Buffer.from('ssh-ed25519')), field(Buffer.alloc(32, fill))]).toString('base64')}`
})
