import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { loadUser } from '#identity/accounts.ts'
import { openSession } from '#identity/sessions.ts'
import { sql } from '#platform/database.ts'
import { digest, newToken } from '#platform/secrets.ts'
import { type Client, expect, injecting, withPeople } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'
import { Octokit } from '#test/octokit.ts'
import { readPublicKey } from './public-key.ts'

const inject = injecting(withPeople('ada', 'ben'))

const field = (bytes: Buffer | string) => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(Buffer.byteLength(bytes))
  return Buffer.concat([length, Buffer.from(bytes)])
}
const line = (type: string, ...fields: (Buffer | string)[]) =>
  `${type} ${Buffer.concat([type, ...fields].map(field)).toString('base64')}`
const raw = (text: string | undefined) => Buffer.from(text ?? '', 'base64url')
const jwk = (key: KeyObject) => key.export({ format: 'jwk' })

const ed25519 = () => line('ssh-ed25519', raw(jwk(generateKeyPairSync('ed25519').publicKey).x))
function ecdsa(size: '256' | '384' | '521') {
  const { x, y } = jwk(generateKeyPairSync('ec', { namedCurve: `P-${size}` }).publicKey)
  return line(`ecdsa-sha2-nistp${size}`, `nistp${size}`, Buffer.concat([Buffer.from([4]), raw(x), raw(y)]))
}
function rsa(bits: number) {
  const { e, n } = jwk(generateKeyPairSync('rsa', { modulusLength: bits }).publicKey)
  return line('ssh-rsa', raw(e), Buffer.concat([Buffer.from([0]), raw(n)]))
}
const point = () => Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 7)])
const securityKeys = [
  line('sk-ssh-ed25519@openssh.com', Buffer.alloc(32, 3), 'ssh:'),
  line('sk-ecdsa-sha2-nistp256@openssh.com', 'nistp256', point(), 'ssh:'),
]

const faulty = (message: string) => [{ resource: 'PublicKey', code: 'custom', field: 'key', message }]
const malformed = faulty('key is invalid. You must supply a key in OpenSSH public key format')

test("every common type of key is accepted, with OpenSSH's fingerprint", () => {
  for (const key of [ed25519(), rsa(2048), ecdsa('256'), ecdsa('384'), ecdsa('521'), ...securityKeys]) {
    const digest = createHash('sha256')
      .update(Buffer.from(key.split(' ')[1] ?? '', 'base64'))
      .digest('base64')
    const fingerprint = `SHA256:${digest.replace(/=+$/, '')}`
    assert.deepEqual(readPublicKey(`  ${key}\tada@desk two  \n`), { key, comment: 'ada@desk two', fingerprint })
  }
})

test('a key has the fingerprint that OpenSSH computes', () => {
  const known = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
  assert.equal(readPublicKey(known)?.fingerprint, 'SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU')
})

const key = ed25519()
const encoded = key.split(' ')[1] ?? ''
const wrong = [
  '',
  'ssh-ed25519',
  'ssh-ed25519 AAAA',
  'ssh-ed25519 !!!!',
  `ssh-rsa ${encoded}`,
  `constructor ${encoded}`,
  `ssh-ed25519 ${encoded.slice(0, -4)}`,
  `ssh-ed25519 ${encoded}AAAA`,
  `ssh-ed25519 ${encoded}=`,
  `command="ls" ${key}`,
  `${key}\n${ed25519()}`,
  line('ssh-ed25519', Buffer.alloc(31, 1)),
  line('ssh-dss', Buffer.alloc(128, 1), Buffer.alloc(20, 1), Buffer.alloc(128, 1), Buffer.alloc(128, 1)),
  line('ecdsa-sha2-nistp256', 'nistp384', point()),
  line('ssh-rsa', Buffer.from([1, 0, 1]), Buffer.alloc(65, 1)),
  '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----',
]

test('text that is not a public key is refused', inject(async ({ ada }) => {
  for (const text of wrong) {
    const { errors } = await expect(422, await ada.post('/user/keys', { title: 'no', key: text }))
    assert.deepEqual(errors, malformed, text)
  }
  for (const body of [{}, { title: 'x' }, { title: 'x'.repeat(256), key: ed25519() }, { key: 7 }, { key: 'x'.repeat(20_000) }]) {
    assert.equal((await ada.post('/user/keys', body)).status, 422)
  }
  assert.deepEqual(await ada.read('/user/keys'), [])
}))

test('a user has keys, and others see them without titles', inject(async ({ ada, ben, nobody }) => {
  const octokit = new Octokit({ auth: ada.token, baseUrl: ada.base })
  const { data, status, headers } = await octokit.rest.users.createPublicSshKeyForAuthenticatedUser({
    title: 'desk',
    key: `${key} ada@desk`,
  })
  assert.equal(status, 201)
  assert.equal(headers.location, data.url)
  assert.deepEqual(data, {
    id: data.id,
    key,
    url: `${ada.base}/user/keys/${data.id}`,
    title: 'desk',
    created_at: '2026-02-03T04:05:06Z',
    verified: true,
    read_only: false,
  })
  const { id } = data
  assert.deepEqual((await octokit.rest.users.listPublicSshKeysForAuthenticatedUser()).data, [data])
  assert.deepEqual((await octokit.rest.users.getPublicSshKeyForAuthenticatedUser({ key_id: id })).data, data)
  assert.deepEqual(await nobody.read('/users/ada/keys'), [{ id, key }])
  assert.equal((await nobody.get('/users/nobody-here/keys')).status, 404)
  const titled = await expect(201, await ada.post('/user/keys', { key: `${ed25519()} ada@laptop` }))
  assert.equal(titled.title, 'ada@laptop')
  assert.match((await ada.get('/user/keys?per_page=1')).headers.get('link') ?? '', /rel="next"/)
  assert.equal((await ben.get(`/user/keys/${id}`)).status, 404)
  assert.equal((await ben.delete(`/user/keys/${id}`)).status, 404)
  await octokit.rest.users.deletePublicSshKeyForAuthenticatedUser({ key_id: id })
  assert.equal((await ada.get(`/user/keys/${id}`)).status, 404)
  assert.equal((await ada.delete(`/user/keys/${id}`)).status, 404)
}))

test('a key can be added only once', inject(async ({ ada, ben }) => {
  await ada.owns('engine')
  await expect(201, await ada.post('/user/keys', { title: 'mine', key }))
  for (const [client, path] of [
    [ada, '/user/keys'],
    [ben, '/user/keys'],
    [ada, '/repos/ada/engine/keys'],
  ] as const) {
    const { errors } = await expect(422, await client.post(path, { title: 'again', key: `${key} another comment` }))
    assert.deepEqual(errors, faulty('key is already in use'))
  }
}))

test('admins of a repository add deploy keys', inject(async ({ ada, ben, nobody }) => {
  await ada.owns('engine')
  await ada.owns('other')
  const octokit = new Octokit({ auth: ada.token, baseUrl: ada.base })
  const repo = { owner: 'ada', repo: 'engine' }
  const { data } = await octokit.rest.repos.createDeployKey({ ...repo, title: 'ci', key, read_only: true })
  assert.deepEqual(data, {
    id: data.id,
    key,
    url: `${ada.base}/repos/ada/engine/keys/${data.id}`,
    title: 'ci',
    verified: true,
    created_at: '2026-02-03T04:05:06Z',
    read_only: true,
    added_by: 'ada',
    last_used: null,
    enabled: true,
  })
  const writes = await expect(201, await ada.post('/repos/ada/engine/keys', { key: ed25519() }))
  assert.equal(writes.read_only, false)
  assert.deepEqual((await octokit.rest.repos.listDeployKeys(repo)).data, [data, writes])
  assert.deepEqual((await octokit.rest.repos.getDeployKey({ ...repo, key_id: data.id })).data, data)
  assert.equal((await ada.get(`/repos/ada/other/keys/${data.id}`)).status, 404)
  assert.equal((await ada.delete(`/repos/ada/other/keys/${data.id}`)).status, 404)
  assert.equal((await ada.get(`/user/keys/${data.id}`)).status, 404)
  for (const answer of [
    await ben.get('/repos/ada/engine/keys'),
    await ben.post('/repos/ada/engine/keys', { key: ed25519() }),
    await ben.delete(`/repos/ada/engine/keys/${data.id}`),
  ]) {
    assert.equal((await expect(403, answer)).message, 'Must have admin rights to Repository.')
  }
  assert.equal((await nobody.get('/repos/ada/engine/keys')).status, 401)
  await octokit.rest.repos.deleteDeployKey({ ...repo, key_id: data.id })
  assert.deepEqual((await octokit.rest.repos.listDeployKeys(repo)).data, [writes])
  assert.equal((await ada.delete('/repos/ada/engine')).status, 204)
  await expect(201, await ada.post('/user/keys', { key: writes.key }))
}))

test('each endpoint requires its scope', inject(async ({ ada, tokenFor }) => {
  await ada.owns('engine')
  const { id } = await expect(201, await ada.post('/user/keys', { title: 'mine', key }))
  const steps: [string, (client: Client) => Promise<Response>][] = [
    ['read:public_key', (client) => client.get('/user/keys')],
    ['read:public_key', (client) => client.get(`/user/keys/${id}`)],
    ['write:public_key', (client) => client.post('/user/keys', { key: ed25519() })],
    ['admin:public_key', (client) => client.delete(`/user/keys/${id}`)],
    ['repo', (client) => client.get('/repos/ada/engine/keys')],
    ['repo', (client) => client.post('/repos/ada/engine/keys', { key: ed25519() })],
  ]
  const ranks = ['read:public_key', 'write:public_key', 'admin:public_key']
  for (const [scope, step] of steps) {
    const below = scope === 'repo' ? ['public_repo', 'admin:public_key'] : ['user', ...ranks.slice(0, ranks.indexOf(scope))]
    const { message } = await expect(403, await step(await tokenFor('ada', below)))
    assert.equal(message, `Missing the '${scope}' scope.`)
    assert.ok((await step(await tokenFor('ada', [scope]))).ok, scope)
  }
}))

test('a fine-grained token needs the permission', inject(async ({ ada, belfry, nobody }) => {
  await ada.owns('engine')
  const user = await loadUser(belfry.db, 'ada')
  const fine = async (permissions: Record<string, string>) => {
    const token = newToken('bff_')
    await belfry.db.query(sql`
      insert into tokens (user_id, digest, last_eight, kind, scopes, permissions, resource_owner_id, created_at, updated_at)
      values (${user.id}, ${digest(token)}, '', 'fine_grained', '{}', ${permissions}, ${user.id}, ${user.created_at}, ${user.created_at})`)
    return nobody.with({ authorization: `Bearer ${token}` })
  }
  for (const [permission, path] of Object.entries({ git_ssh_keys: '/user/keys', administration: '/repos/ada/engine/keys' })) {
    const [none, reads, writes] = [await fine({}), await fine({ [permission]: 'read' }), await fine({ [permission]: 'write' })]
    for (const answer of [await none.get(path), await reads.post(path, { key: ed25519() })]) {
      assert.equal((await expect(403, answer)).message, 'Resource not accessible by personal access token')
    }
    const { id } = await expect(201, await writes.post(path, { key: ed25519() }))
    assert.equal((await reads.get(`${path}/${id}`)).status, 200)
    assert.equal((await reads.delete(`${path}/${id}`)).status, 403)
    assert.equal((await writes.delete(`${path}/${id}`)).status, 204)
  }
}))

test('keys are added and removed on their page', inject(async ({ ada, belfry, web }) => {
  const { db } = belfry
  const user = await loadUser(db, 'ada')
  const session = await db.transaction((transaction) =>
    openSession(transaction, user, { address: '127.0.0.1', user_agent: 'test' }, false),
  )
  const headers = { cookie: `belfry_session=${session}` }
  const page = async () => (await fetch(`${web}/settings/keys`, { headers })).text()
  const csrf = /name="csrf" value="(\w+)"/.exec(await page())?.[1] ?? ''
  const send = (path: string, form: Record<string, string>) =>
    fetch(`${web}${path}`, { method: 'POST', headers, body: new URLSearchParams({ csrf, ...form }), redirect: 'manual' })
  assert.match(await page(), /There are no keys yet/)
  const refused = await send('/settings/keys', { title: '<i>desk</i>', key: 'nonsense' })
  assert.equal(refused.status, 422)
  const text = await refused.text()
  assert.match(text, /Key is invalid\. You must supply a key in OpenSSH public key format\./)
  assert.match(text, /&lt;i&gt;desk&lt;\/i&gt;/)
  const added = await send('/settings/keys', { title: 'desk', key })
  assert.equal(added.status, 303)
  const follow = async (answer: Response) => (await fetch(`${web}${answer.headers.get('location')}`, { headers })).text()
  assert.match(await follow(added), /The key desk is added\./)
  assert.doesNotMatch(await page(), /is added/)
  const [{ id, title }] = await ada.read('/user/keys')
  assert.equal(title, 'desk')
  assert.ok((await page()).includes(readPublicKey(key)?.fingerprint ?? '?'))
  assert.equal((await send('/settings/keys/delete', { id: String(id), csrf: 'wrong' })).status, 403)
  assert.equal((await send('/settings/keys/delete', { id: 'x' })).status, 404)
  const asking = (about: unknown) => fetch(`${web}/settings/keys/delete?id=${about}`, { headers })
  assert.match(await (await asking(id)).text(), /Remove this key\?/)
  for (const wrong of ['x', '', id + 1]) assert.equal((await asking(wrong)).status, 404)
  assert.match(await follow(await send('/settings/keys/delete', { id: String(id) })), /The key is removed\./)
  assert.deepEqual(await ada.read('/user/keys'), [])
  const outside = await fetch(`${web}/settings/keys`, { redirect: 'manual' })
  assert.equal(outside.headers.get('location'), '/login?return_to=%2Fsettings%2Fkeys')
}))

test('the pages of keys say that SSH is not served', inject(async ({ forge, ada }) => {
  await ada.owns('engine')
  const visitor = await signedIn(forge, 'ada')
  for (const path of ['/settings/keys', '/ada/engine/settings/keys'])
    assert.match((await visitor.get(path)).text, /Belfry does not serve SSH/, path)
}))
