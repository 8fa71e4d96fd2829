import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asInstallation, registerApp } from '#test/apps.ts'
import { fineGrained, join } from '#test/conversations.ts'
import { type Client, expect, injecting, openForge, type Person, withPeople } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'
import { openWorker } from '#worker.ts'

const inject = injecting(withPeople('ada', 'ben', 'cy'))
const secret = '/repos/ada/secret'
const fork = '/repos/ben/secret'
const patience = { interval: 20, timeout: 60_000 }

/** Ada's private repository, which Ben has forked. */
async function forkSecret(ada: Person, ben: Person) {
  await ada.owns('secret', { private: true, auto_init: true })
  await join(ada, ben, 'pull', secret)
  return expect(202, await ben.post(`${secret}/forks`))
}

/** Every list and record that shows the fork to its owner. */
async function shown(client: Client, path = fork) {
  const lists = ['/user/repos', '/users/ben/repos', '/search/repositories?q=secret+user:ben+fork:true', '/user/subscriptions']
  const found = await Promise.all(
    lists.map(async (list) => {
      const body = await client.read(list)
      const rows: { full_name: string }[] = body.items ?? body
      return rows.some(({ full_name }) => `/repos/${full_name}` === path)
    }),
  )
  const { status } = await client.get(path)
  assert.equal(new Set([...found, status === 200]).size, 1, `${status} and ${found.join()}`)
  return status === 200
}

test('a fork of a private repository is hidden while its owner has no access to the parent', inject(async (forge) => {
  const { ada, ben } = forge
  const { id } = await forkSecret(ada, ben)
  const token = await fineGrained(forge, 'ben', { metadata: 'read' })
  assert.equal(await shown(ben), true)
  assert.equal((await token.get(fork)).status, 200)
  const hook = await expect(201, await ben.post(`${fork}/hooks`, { config: { url: 'https://hooks.example/' } }))
  const events = await ben.get(`${fork}/events`)
  await expect(204, await ada.delete(`${secret}/collaborators/ben`))
  assert.equal(await shown(ben), false)
  for (const path of ['', '/events', '/commits', '/issues', '/collaborators'])
    assert.equal((await ben.get(`${fork}${path}`)).status, 404, path)
  const etag = events.headers.get('etag') ?? ''
  assert.equal((await ben.with({ 'if-none-match': etag }).get(`${fork}/events`)).status, 404)
  assert.equal((await token.get(fork)).status, 404)
  assert.equal((await ben.get(`/repositories/${id}`)).status, 404)
  assert.equal((await ben.patch(fork, { private: false })).status, 404)
  assert.equal((await ben.post(`${fork}/transfer`, { new_owner: 'cy' })).status, 404)
  const basic = { authorization: `Basic ${btoa(`ben:${ben.token}`)}` }
  assert.equal((await fetch(`${forge.web}/ben/secret.git/info/refs?service=git-upload-pack`, { headers: basic })).status, 404)
  await join(ada, ben, 'pull', secret)
  assert.equal(await shown(ben), true, 'it comes back with the access')
  assert.equal((await ben.read(`${fork}/hooks/${hook.id}`)).active, false, 'its hooks were paused')
}))

test('a collaborator of a private fork also needs access to the parent, and so does a fork of the fork', inject(async (forge) => {
  const { ada, ben, cy } = forge
  await forkSecret(ada, ben)
  await join(ben, cy, 'admin', fork)
  assert.equal((await cy.get(fork)).status, 404)
  await join(ada, cy, 'pull', secret)
  assert.equal((await cy.read(fork)).permissions.admin, true)
  const second = await expect(202, await cy.post(`${fork}/forks`, { name: 'copy' }))
  assert.equal(second.private, true)
  await expect(204, await ben.delete(`${fork}/collaborators/cy`))
  assert.equal((await cy.get('/repos/cy/copy')).status, 404, 'it follows its parent')
  await join(ben, cy, 'pull', fork)
  assert.equal((await cy.get('/repos/cy/copy')).status, 200)
  await expect(204, await ada.delete(`${secret}/collaborators/cy`))
  assert.equal((await cy.get('/repos/cy/copy')).status, 404, 'and the parent of its parent')
  await join(ada, cy, 'pull', secret)
  await expect(204, await ben.delete(fork))
  assert.partialDeepStrictEqual(await cy.read('/repos/cy/copy'), { fork: true, parent: { full_name: 'ada/secret' } })
  assert.equal((await cy.patch('/repos/cy/copy', { private: false })).status, 422)
}))

test('an app of the owner loses sight of a private fork with the owner', inject(async (forge) => {
  const { ada, ben } = forge
  await forkSecret(ada, ben)
  const app = await registerApp(ben)
  const installation = await expect(201, await ben.post('/user/installations', { app_slug: app.slug }))
  const bot = await asInstallation(forge, app, installation)
  assert.equal((await bot.get(fork)).status, 200)
  assert.equal((await bot.read('/installation/repositories')).total_count, 1)
  await expect(204, await ada.delete(`${secret}/collaborators/ben`))
  assert.equal((await bot.get(fork)).status, 404)
  assert.equal((await bot.read('/installation/repositories')).total_count, 0)
}))

test('deleting a private repository deletes its forks, which no one can read from then on', async (t) => {
  await using forge = await openForge()
  const [ada, ben, cy] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cy')]
  const { id } = await forkSecret(ada, ben)
  await join(ada, cy, 'pull', secret)
  await join(ben, cy, 'pull', fork)
  const second = await expect(202, await cy.post(`${fork}/forks`, { name: 'copy' }))
  await expect(204, await ada.delete(secret))
  assert.equal((await ben.get(fork)).status, 404)
  assert.equal((await ben.patch(fork, { private: false })).status, 404)
  assert.equal((await cy.get('/repos/cy/copy')).status, 404)
  const worker = await openWorker(forge.belfry)
  await using undo = new AsyncDisposableStack()
  undo.defer(() => worker.stop())
  await t.waitFor(() => assert.ok([id, second.id].every((each) => !forge.belfry.storage.has(each))), patience)
  await t.waitFor(async () => assert.equal((await ben.post('/user/repos', { name: 'secret' })).status, 201), patience)
})

test('public forks of a repository that becomes private are a network of their own', inject(async ({
  forge,
  ada,
  ben,
  cy,
  nobody,
}) => {
  const dee = await forge.person('dee')
  await ada.owns('engine')
  for (const [person, from] of [
    [ben, 'ada'],
    [cy, 'ada'],
    [dee, 'cy'],
  ] as const) {
    forge.clock.advance(1000)
    await expect(202, await person.post(`/repos/${from}/engine/forks`))
  }
  await expect(200, await ada.patch('/repos/ada/engine', { private: true }))
  assert.partialDeepStrictEqual(await ada.read('/repos/ada/engine'), { forks_count: 0, network_count: 1 })
  assert.partialDeepStrictEqual(await nobody.read('/repos/ben/engine'), { fork: false, forks_count: 1, network_count: 3 })
  assert.partialDeepStrictEqual(await nobody.read('/repos/cy/engine'), { fork: true, parent: { full_name: 'ben/engine' } })
  assert.equal((await nobody.read('/repos/dee/engine')).source.full_name, 'ben/engine')
  await expect(200, await ben.patch('/repos/ben/engine', { private: true }))
  assert.partialDeepStrictEqual(await nobody.read('/repos/cy/engine'), { fork: false, forks_count: 1, network_count: 2 })
}))

test('a private fork stands alone when its parent becomes public, and can become public then', inject(async ({
  ada,
  ben,
  nobody,
}) => {
  await forkSecret(ada, ben)
  await expect(200, await ada.patch(secret, { private: false }))
  await expect(204, await ada.delete(`${secret}/collaborators/ben`))
  assert.partialDeepStrictEqual(await ben.read(fork), { fork: false, private: true, network_count: 1 })
  assert.equal((await nobody.get(fork)).status, 404)
  await expect(200, await ben.patch(fork, { private: false }))
  assert.equal((await nobody.get(fork)).status, 200)
}))

test('a private fork can be neither published nor transferred', inject(async ({ ada, ben }) => {
  await forkSecret(ada, ben)
  assert.equal((await ben.patch(fork, { visibility: 'public' })).status, 422)
  const { errors } = await expect(422, await ben.post(`${fork}/transfer`, { new_owner: 'ada', new_name: 'back' }))
  assert.match(errors[0].message, /cannot be transferred/)
}))

test('allow_forking and the setting of the organization decide about private forks', inject(async ({ forge, ada, ben, cy }) => {
  await ada.owns('secret', { private: true, allow_forking: false })
  await join(ada, ben, 'pull', secret)
  assert.equal((await ben.read(secret)).allow_forking, false)
  assert.match((await expect(403, await ben.post(`${secret}/forks`))).message, /not allowed/)
  await expect(200, await ada.patch(secret, { allow_forking: true }))
  await expect(202, await ben.post(`${secret}/forks`))
  await ada.owns('open', { allow_forking: false })
  await expect(202, await ben.post('/repos/ada/open/forks'))

  await forge.organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/cy'))
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'plans', private: true }))
  const changed = await expect(200, await ada.patch('/orgs/acme', { members_can_fork_private_repositories: false }))
  assert.equal(changed.members_can_fork_private_repositories, false)
  await expect(403, await cy.post('/repos/acme/plans/forks'))
  const guest = await signedIn(forge, 'ada')
  await guest.fill('/organizations/acme/settings/profile', { member_access: 'read', private_forks: 'on' })
  await expect(202, await cy.post('/repos/acme/plans/forks'))
}))
