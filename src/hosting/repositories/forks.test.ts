import assert from 'node:assert/strict'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { join } from '#test/conversations.ts'
import { expect, type Forge, injecting, openForge, withPeople } from '#test/forge.ts'
import { openWorker } from '#worker.ts'
import { takeNetworkTurn } from './network.ts'

const inject = injecting(withPeople('ada', 'ben', 'cy'))
const names = (repos: { full_name: string }[]) => repos.map((repo) => repo.full_name)
/** Waits for a background job. */
const patience = { interval: 20, timeout: 60_000 }
const inside = (forge: Forge, id: number, ...args: string[]) => git(['-C', forge.belfry.storage.pathOf(id), ...args])
const refs = (forge: Forge, id: number) => inside(forge, id, 'for-each-ref', '--format=%(refname) %(objectname)')

test('a fork shares the network of its parent', inject(async ({ ada, ben, cy, nobody }) => {
  await ada.owns('engine', { description: 'Turns numbers', has_wiki: true })
  const fork = await expect(202, await ben.post('/repos/ada/engine/forks'))
  assert.partialDeepStrictEqual(fork, {
    full_name: 'ben/engine',
    description: 'Turns numbers',
    fork: true,
    private: false,
    network_count: 2,
    forks_count: 0,
    parent: { full_name: 'ada/engine', forks_count: 1 },
    source: { full_name: 'ada/engine' },
    permissions: { admin: true },
  })
  const second = await expect(202, await cy.post('/repos/ben/engine/forks', { name: 'my engine' }))
  assert.partialDeepStrictEqual(second, {
    full_name: 'cy/my-engine',
    network_count: 3,
    parent: { full_name: 'ben/engine' },
    source: { full_name: 'ada/engine' },
  })
  const root = await nobody.read('/repos/ada/engine')
  assert.partialDeepStrictEqual(root, { fork: false, forks_count: 1, forks: 1, network_count: 3 })
  assert.ok(!('parent' in root) && !('source' in root))
  assert.deepEqual(names(await nobody.read('/repos/ada/engine/forks')), ['ben/engine'])
  assert.deepEqual(names(await nobody.read('/repos/ben/engine/forks')), ['cy/my-engine'])
}))

test('forking again returns the existing fork, also with concurrent requests', inject(async ({ ada, ben }) => {
  await ada.owns('engine')
  const answers = await Promise.all(Array.from({ length: 8 }, () => ben.post('/repos/ada/engine/forks')))
  const ids = await Promise.all(answers.map(async (answer) => (await expect(202, answer)).id))
  assert.equal(new Set(ids).size, 1)
  assert.equal((await expect(202, await ben.post('/repos/ada/engine/forks', { name: 'other' }))).id, ids[0])
  assert.equal((await ada.read('/repos/ada/engine')).forks_count, 1)
  const root = await expect(202, await ada.post('/repos/ben/engine/forks'))
  assert.equal(root.full_name, 'ada/engine', 'whoever has the first of the network has it already')
}))

test('a repository cannot be forked into its own account, nor over another repository', inject(async ({ ada, ben, nobody }) => {
  await ada.owns('engine')
  await ben.owns('engine')
  assert.equal((await ada.post('/repos/ada/engine/forks')).status, 403)
  assert.equal((await ben.post('/repos/ada/engine/forks')).status, 422)
  assert.equal((await nobody.post('/repos/ada/engine/forks')).status, 401)
  assert.equal((await ada.read('/repos/ada/engine')).forks_count, 0)
}))

test('a member forks into an organization', inject(async ({ ada, ben, cy, organization }) => {
  await organization('acme', cy)
  await ada.owns('engine')
  assert.equal((await ben.post('/repos/ada/engine/forks', { organization: 'acme' })).status, 422)
  assert.equal((await ben.post('/repos/ada/engine/forks', { organization: 'cy' })).status, 422)
  await expect(200, await cy.put('/orgs/acme/memberships/ben'))
  const fork = await expect(202, await ben.post('/repos/ada/engine/forks', { organization: 'acme', name: 'motor' }))
  assert.partialDeepStrictEqual(fork, { full_name: 'acme/motor', organization: { login: 'acme' }, permissions: { admin: true } })
}))

test('concurrent forks are all counted', inject(async ({ forge, ada }) => {
  await ada.owns('engine')
  const people = await Promise.all(Array.from({ length: 20 }, (_, index) => forge.person(`forker-${index}`)))
  const answers = await Promise.all(people.map((person) => person.post('/repos/ada/engine/forks')))
  for (const answer of answers) assert.equal(answer.status, 202)
  assert.partialDeepStrictEqual(await ada.read('/repos/ada/engine'), { forks_count: 20, network_count: 21 })
  assert.equal((await ada.read('/repos/ada/engine/forks?per_page=100')).length, 20)
}))

test('a job copies the contents of a fork, all branches or the default branch only', async (t) => {
  await using forge = await openForge({ worker: true })
  const [ada, ben, cy] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cy')]
  const { id } = await ada.owns('engine', { auto_init: true })
  await inside(forge, id, 'branch', 'feature', 'main')
  await inside(forge, id, 'tag', 'v1', 'main')
  const full = await expect(202, await ben.post('/repos/ada/engine/forks'))
  const lean = await expect(202, await cy.post('/repos/ada/engine/forks', { default_branch_only: true }))
  await t.waitFor(() => assert.ok([full, lean].every((fork) => forge.belfry.storage.has(fork.id))), patience)
  assert.equal(await refs(forge, full.id), await refs(forge, id))
  assert.match(await refs(forge, full.id), /^refs\/heads\/feature \w+\nrefs\/heads\/main \w+\nrefs\/tags\/v1 \w+\n$/)
  assert.equal(await inside(forge, lean.id, 'for-each-ref', '--format=%(refname)', 'refs/heads'), 'refs/heads/main\n')
  assert.equal(await inside(forge, full.id, 'symbolic-ref', 'HEAD'), 'refs/heads/main\n')
  await inside(forge, full.id, 'fsck', '--strict')
})

test('an empty repository has empty forks', async (t) => {
  await using forge = await openForge({ worker: true })
  const [ada, ben, cy] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cy')]
  await ada.owns('engine')
  const full = await expect(202, await ben.post('/repos/ada/engine/forks'))
  const lean = await expect(202, await cy.post('/repos/ada/engine/forks', { default_branch_only: true }))
  await t.waitFor(() => assert.ok([full, lean].every((fork) => forge.belfry.storage.has(fork.id))), patience)
  assert.equal(await refs(forge, full.id), '')
  assert.equal(await refs(forge, lean.id), '')
})

test('a fork of a fork, and a fork of a repository that is deleted at once, get their contents', async (t) => {
  await using forge = await openForge()
  const [ada, ben, cy] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cy')]
  const { id } = await ada.owns('engine', { auto_init: true })
  const contents = await refs(forge, id)
  await expect(202, await ben.post('/repos/ada/engine/forks'))
  const second = await expect(202, await cy.post('/repos/ben/engine/forks'))
  assert.equal((await ada.delete('/repos/ada/engine')).status, 204)
  assert.equal((await ben.delete('/repos/ben/engine')).status, 204)
  // All jobs are waiting, and run in any order.
  const worker = await openWorker(forge.belfry)
  await using undo = new AsyncDisposableStack()
  undo.defer(() => worker.stop())
  await t.waitFor(() => assert.ok(forge.belfry.storage.has(second.id)), patience)
  assert.equal(await refs(forge, second.id), contents)
})

test('a fork of a private repository is private, and stays private until its parent is public', inject(async ({
  ada,
  ben,
  cy,
}) => {
  await ada.owns('secret', { private: true })
  assert.equal((await ben.post('/repos/ada/secret/forks')).status, 404)
  await join(ada, ben, 'pull', '/repos/ada/secret')
  assert.equal((await expect(202, await ben.post('/repos/ada/secret/forks'))).private, true)
  assert.equal((await cy.get('/repos/ben/secret')).status, 404)
  assert.deepEqual(await cy.read('/users/ben/repos'), [])
  assert.equal((await ben.patch('/repos/ben/secret', { private: false })).status, 422)
  assert.equal((await ben.patch('/repos/ben/secret', { visibility: 'public' })).status, 422)
  await expect(200, await ada.patch('/repos/ada/secret', { private: false }))
  assert.equal((await cy.get('/repos/ben/secret')).status, 404)
  assert.deepEqual(await cy.read('/repos/ada/secret/forks'), [])
  assert.equal((await ada.delete('/repos/ada/secret/collaborators/ben')).status, 204)
  assert.equal((await expect(200, await ben.patch('/repos/ben/secret', { private: false }))).private, false)
}))

test('when the root of a network is deleted, its oldest fork becomes the root', inject(async ({ forge, ada, ben, cy }) => {
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
  assert.equal((await ada.delete('/repos/ada/engine')).status, 204)
  assert.partialDeepStrictEqual(await ben.read('/repos/ben/engine'), { fork: false, forks_count: 1, network_count: 3 })
  assert.partialDeepStrictEqual(await cy.read('/repos/cy/engine'), {
    fork: true,
    parent: { full_name: 'ben/engine' },
    source: { full_name: 'ben/engine' },
  })
  assert.equal((await dee.read('/repos/dee/engine')).source.full_name, 'ben/engine')
  assert.equal((await cy.delete('/repos/cy/engine')).status, 204)
  assert.equal((await dee.read('/repos/dee/engine')).parent.full_name, 'ben/engine')
  assert.partialDeepStrictEqual(await ben.read('/repos/ben/engine'), { forks_count: 1, network_count: 2 })
}))

test('concurrent deletions of a fork count once', inject(async ({ ada, ben, cy }) => {
  await ada.owns('engine')
  await expect(202, await ben.post('/repos/ada/engine/forks'))
  await expect(202, await cy.post('/repos/ada/engine/forks'))
  const answers = await Promise.all(Array.from({ length: 6 }, () => ben.delete('/repos/ben/engine')))
  assert.deepEqual(answers.map((answer) => answer.status).sort(), [204, 404, 404, 404, 404, 404])
  assert.equal((await ada.read('/repos/ada/engine')).forks_count, 1)
}))

test('a network stays consistent under concurrent forks and deletions', inject(async ({ ada, ben, cy }) => {
  for (let round = 0; round < 5; round++) {
    const name = `engine-${round}`
    await ada.owns(name)
    await expect(202, await ben.post(`/repos/ada/${name}/forks`))
    const [forked, ...deleted] = await Promise.all([
      cy.post(`/repos/ben/${name}/forks`),
      ben.delete(`/repos/ben/${name}`),
      ada.delete(`/repos/ada/${name}`),
    ])
    for (const answer of deleted) assert.equal(answer.status, 204)
    assert.ok([202, 404].includes(forked.status))
    if (forked.status === 202) {
      assert.partialDeepStrictEqual(await cy.read(`/repos/cy/${name}`), { fork: false, forks_count: 0, network_count: 1 })
    }
  }
}))

test('a deletion waits for changes of its own network only', inject(async ({ forge, ada }) => {
  await ada.owns('engine')
  const { id } = await ada.owns('mill')
  await forge.belfry.db.transaction(async (other) => {
    await takeNetworkTurn(other, id)
    await expect(204, await ada.delete('/repos/ada/engine'))
  })
}))
