import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { fineGrained, join } from '#test/conversations.ts'
import { expect, linesOf, openForge, type Person } from '#test/forge.ts'
import { told } from '#test/inbox.ts'
import { hookOn, openReceiver } from '#test/webhooks.ts'

const forge = await openForge({ worker: true })
after(() => forge[Symbol.asyncDispose]())
const [ada, ben, cy, dan] = [
  await forge.person('ada'),
  await forge.person('ben'),
  await forge.person('cy'),
  await forge.person('dan'),
]
await forge.organization('acme', ben)
await expect(200, await ben.put('/orgs/acme/memberships/cy', { role: 'member' }))

const day = 86_400_000
let made = 0

/** A repository of Ada's with a unique name. */
async function own(person: Person, options: Record<string, unknown> = {}) {
  const name = `gift-${++made}`
  const { id } = await person.owns(name, options)
  return { id: id as number, name, path: `/repos/${person.login}/${name}` }
}

const give = async (giver: Person, path: string, new_owner: string, more: object = {}) =>
  expect(202, await giver.post(`${path}/transfer`, { new_owner, ...more }))

/** The transfer of a repository that is offered to a user. */
async function offered(person: Person, repo: { id: number }) {
  const all = await person.read('/user/repository_transfers')
  return all.find(({ repository }: { repository: { id: number } }) => repository.id === repo.id)
}

test('a transfer to another user waits until they accept', async () => {
  const repo = await own(ada, { private: true })
  const asked = await give(ada, repo.path, 'BEN', { new_name: 'present one' })
  assert.partialDeepStrictEqual(asked, { id: repo.id, full_name: `ada/${repo.name}`, permissions: { admin: true } })
  assert.equal((await ben.get(`/repositories/${repo.id}`)).status, 404)
  const pending = await ada.read(`${repo.path}/transfer`)
  assert.partialDeepStrictEqual(pending, {
    new_owner: { login: 'ben' },
    new_name: 'present-one',
    requester: { login: 'ada' },
    created_at: '2026-02-03T04:05:06Z',
    expires_at: '2026-02-10T04:05:06Z',
  })
  const transfer = await offered(ben, repo)
  assert.deepEqual(transfer, pending)
  for (const stranger of [ada, cy]) assert.equal((await stranger.get(transfer.url)).status, 404)
  const { repository } = await expect(200, await ben.patch(transfer.url))
  assert.partialDeepStrictEqual(repository, { id: repo.id, full_name: 'ben/present-one', permissions: { admin: true } })
  assert.equal((await ada.get(`/repositories/${repo.id}`)).status, 404, 'the giver keeps nothing')
  assert.equal((await ben.patch(transfer.url)).status, 404)
  assert.equal((await ben.get('/repos/ben/present-one/transfer')).status, 404)
})

test('webhooks and keys of the former owner are listed before, and dropped', async () => {
  await using receiver = await openReceiver()
  const repo = await own(ada)
  await hookOn(ada, `repos/ada/${repo.name}`, '*')
  const { id: hook } = await expect(201, await ada.post(`${repo.path}/hooks`, { config: { url: `${receiver.url}token` } }))
  const key = `ssh-ed25519 ${btoa(`\0\0\0\x0bssh-ed25519\0\0\0 ${'k'.repeat(32)}`)}`
  await expect(201, await ada.post(`${repo.path}/keys`, { title: 'deploy', key }))
  await join(ada, cy, 'admin', repo.path)
  await join(ada, ben, 'pull', repo.path)
  await expect(201, await ada.put(`${repo.path}/collaborators/dan`, { permission: 'admin' }))
  await give(ada, repo.path, 'ben')
  const { url } = await offered(ben, repo)
  const { attached } = await ben.read(url)
  const expected = {
    webhooks: [{ host: 'belfry:listen' }, { id: hook, host: new URL(receiver.url).host }],
    deploy_keys: [{ title: 'deploy', read_only: false }],
    invitations: [{ login: 'dan', role_name: 'admin' }],
  }
  assert.partialDeepStrictEqual(attached, { ...expected, collaborators: [{ login: 'ben' }, { login: 'cy', role_name: 'admin' }] })
  assert.equal(JSON.stringify(attached).includes('token'), false, 'an address may hold a secret')
  const { dropped } = await expect(200, await ben.patch(url))
  assert.partialDeepStrictEqual(dropped, { ...expected, collaborators: [{ login: 'cy' }] })
  const path = `/repos/ben/${repo.name}`
  for (const list of ['hooks', 'keys', 'invitations']) assert.deepEqual(await ben.read(`${path}/${list}`), [])
  const logins = (await ben.read(`${path}/collaborators`)).map(({ login }: { login: string }) => login)
  assert.deepEqual(logins, ['ben'])
  assert.deepEqual((await ada.read(path)).permissions.push, false)
  assert.equal((await dan.read('/user/repository_invitations')).length, 0)
})

test('a running import ends when the transfer is accepted', async () => {
  await using silent = await openReceiver(() => {})
  const repo = await own(ada)
  await expect(201, await ada.put(`${repo.path}/import`, { vcs: 'git', vcs_url: `${silent.url}x.git` }))
  await give(ada, repo.path, 'ben')
  await expect(200, await ben.patch((await offered(ben, repo)).url))
  assert.equal((await ben.get(`/repos/ben/${repo.name}/import`)).status, 404)
})

test('the former owner and collaborators keep access when the receiver agrees', async () => {
  const repo = await own(ada)
  await join(ada, cy, 'triage', repo.path)
  await give(ada, repo.path, 'ben')
  const kept = { keep_former_owner: true, keep_collaborators: true }
  const { dropped } = await expect(200, await ben.patch((await offered(ben, repo)).url, kept))
  assert.deepEqual(dropped.collaborators, [])
  const people = await ben.read(`/repos/ben/${repo.name}/collaborators`)
  assert.deepEqual(linesOf(people, 'login', 'role_name'), ['ada write', 'ben admin', 'cy triage'])
})

test('a transfer does not reveal the receiver’s repository names', async () => {
  const taken = await own(ben, { private: true })
  const former = await own(ben)
  await expect(200, await ben.patch(former.path, { name: `renamed-${made}` }))
  const answers = []
  for (const new_name of [taken.name, former.name, 'free-name']) {
    const repo = await own(ada)
    const answer = await ada.post(`${repo.path}/transfer`, { new_owner: 'ben', new_name })
    const { id, node_id, ...body } = await expect(202, answer)
    answers.push(JSON.stringify(body).replaceAll(repo.name, 'x'))
    const { url } = await offered(ben, repo)
    if (new_name === 'free-name') continue
    const refused = await expect(422, await ben.patch(url))
    assert.equal(refused.errors[0].message, `name already exists on this account: ${new_name}`)
    assert.equal((await ada.read(repo.path)).id, repo.id, 'nothing happened')
    const other = await expect(200, await ben.patch(url, { new_name: `${new_name}-2` }))
    assert.equal(other.repository.full_name, `ben/${new_name}-2`)
  }
  assert.equal(new Set(answers).size, 1)
  assert.equal((await forge.nobody.get(former.path)).headers.get('location'), `${forge.web}/api/v3/repositories/${former.id}`)
})

test('a transfer to an account where the giver may create repositories is immediate, but ends no redirect', async () => {
  const former = await expect(201, await ben.post('/orgs/acme/repos', { name: 'site' }))
  await expect(200, await ben.patch('/repos/acme/site', { name: 'pages' }))
  const repo = await own(cy)
  const key = `ssh-ed25519 ${btoa(`\0\0\0\x0bssh-ed25519\0\0\0 ${'m'.repeat(32)}`)}`
  await expect(201, await cy.post(`${repo.path}/keys`, { title: 'deploy', key }))
  const refused = await expect(422, await cy.post(`${repo.path}/transfer`, { new_owner: 'acme', new_name: 'Site' }))
  assert.match(refused.errors[0].message, /already exists/)
  const moved = await forge.nobody.get('/repos/acme/site')
  assert.equal(moved.headers.get('location'), `${forge.web}/api/v3/repositories/${former.id}`)
  const given = await give(cy, repo.path, 'acme')
  assert.partialDeepStrictEqual(given, { full_name: `acme/${repo.name}`, permissions: { push: true, admin: false } })
  assert.deepEqual(await ben.read(`/repos/acme/${repo.name}/keys`), [], 'who is no admin any more has no deploy key')
  const back = await expect(202, await ben.post(`/repos/acme/${repo.name}/transfer`, { new_owner: 'ben' }))
  assert.equal(back.full_name, `ben/${repo.name}`)
})

test('a fine-grained token only offers, because it creates nothing in another account', async () => {
  const repo = await own(cy)
  const fine = await fineGrained(forge, 'cy', { administration: 'write' })
  assert.equal((await give(fine, repo.path, 'acme')).full_name, `cy/${repo.name}`)
  assert.equal((await offered(ben, repo)).requester.login, 'cy')
})

test('owners of an organization accept for it and are notified; members and others are not', async () => {
  const repo = await own(ada)
  await give(ada, repo.path, 'acme')
  await told(forge)
  const { subject, reason } = (await ben.read('/notifications')).find(
    (one: { repository: { id: number } }) => one.repository.id === repo.id,
  )
  const { url } = await offered(ben, repo)
  assert.deepEqual(subject, {
    title: `Transfer of ada/${repo.name}`,
    url,
    latest_comment_url: url,
    type: 'RepositoryTransfer',
    state: null,
    html_url: `${forge.web}/ada/${repo.name}/transfer`,
  })
  assert.equal(reason, 'subscribed')
  assert.equal((await ben.read(url)).new_owner.login, 'acme')
  for (const other of [cy, dan]) {
    assert.equal(await offered(other, repo), undefined)
    assert.equal((await other.patch(url)).status, 404)
    assert.equal((await other.delete(url)).status, 404)
  }
  const { repository } = await expect(200, await ben.patch(url))
  assert.equal(repository.full_name, `acme/${repo.name}`)
  const left: { subject: { url: string } }[] = await ben.read('/notifications?all=true')
  assert.equal(
    left.some((one) => one.subject.url === url),
    false,
    'its notification ends with it',
  )
})

/** How an offer ends without being accepted. */
const endings: Record<string, (repo: { path: string; id: number }, url: string) => Promise<unknown>> = {
  declined: async (_, url) => expect(204, await ben.delete(url)),
  'taken back': async ({ path }) => expect(204, await ada.delete(`${path}/transfer`)),
  'offered to someone else': ({ path }) => give(ada, path, 'cy'),
  'older than a week': async () => forge.clock.advance(7 * day),
  'of a repository that is gone': async ({ path }) => expect(204, await ada.delete(path)),
  'of someone who is suspended': async () => expect(204, await forge.admin.put('/users/ada/suspended')),
}
for (const [how, end] of Object.entries(endings)) {
  test(`an offer that is ${how} can be accepted no more, and leaves no thread`, async () => {
    const repo = await own(ada, { private: true })
    await give(ada, repo.path, 'ben')
    await told(forge)
    const { url } = await offered(ben, repo)
    const threads = await ben.read('/notifications')
    const thread = threads.find((one: { repository: { id: number } }) => one.repository.id === repo.id)
    await end(repo, url)
    assert.equal(await offered(ben, repo), undefined)
    assert.equal((await ben.get(url)).status, 404)
    assert.equal((await ben.patch(url)).status, 404)
    assert.equal((await ben.get(thread.url)).status, 404)
    await expect(204, await forge.admin.delete('/users/ada/suspended'))
  })
}

test('an offer ends when the giver is no longer an admin', async () => {
  const repo = await own(ada)
  await join(ada, cy, 'admin', repo.path)
  await give(cy, repo.path, 'ben')
  const { url } = await offered(ben, repo)
  await expect(204, await ada.put(`${repo.path}/collaborators/cy`, { permission: 'push' }))
  assert.equal((await ben.patch(url)).status, 404)
  assert.equal((await ada.get(`${repo.path}/transfer`)).status, 404)
})

test('two concurrent acceptances move the repository once', async () => {
  const repo = await own(ada)
  await give(ada, repo.path, 'ben')
  const { url } = await offered(ben, repo)
  const answers = await Promise.all([ben.patch(url), ben.patch(url), ben.delete(url)])
  assert.equal(answers.filter(({ ok }) => ok).length, 1)
  assert.ok(answers.every(({ status }) => status < 500))
})
