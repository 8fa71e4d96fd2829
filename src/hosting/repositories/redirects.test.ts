import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadAccount } from '#identity/accounts.ts'
import { sql } from '#platform/database.ts'
import { expect, injecting, openForge, withPeople } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { Octokit } from '#test/octokit.ts'
import { handOver } from '#test/transfers.ts'
import { loadRepositoryById } from './repositories.ts'
import { updateRepository } from './update.ts'

const inject = injecting(withPeople('ada', 'ben'))

test('a former name redirects to the repository, with 301 or 307', inject(async ({ ada, web, versioned }) => {
  const { id } = await ada.owns('engine')
  const renamed = await expect(200, await ada.patch('/repos/ada/engine', { name: 'new motor' }))
  assert.partialDeepStrictEqual(renamed, { id, full_name: 'ada/new-motor' })
  const moved = await ada.get('/repos/ada/Engine?x=1')
  const location = `${web}/api/v3/repositories/${id}?x=1`
  assert.equal(moved.status, 301)
  assert.equal(moved.headers.get('location'), location)
  assert.partialDeepStrictEqual(await moved.json(), { message: 'Moved Permanently', url: location })
  assert.equal((await ada.read(location)).full_name, 'ada/new-motor')
  assert.equal((await ada.head('/repos/ada/engine')).status, 301)
  const below = await ada.versioned.get('/repos/ada/engine/forks')
  assert.equal(below.headers.get('location'), `${versioned}/repositories/${id}/forks`)
  const change = await ada.patch('/repos/ada/engine', { description: 'New' })
  assert.equal(change.status, 307)
  const followed = await ada.patch(change.headers.get('location') ?? '', { description: 'New' })
  assert.equal((await expect(200, followed)).description, 'New')
  assert.equal((await ada.delete('/repos/ada/engine')).headers.get('location'), `${web}/api/v3/repositories/${id}`)
}))

test('every former name redirects to the current one', inject(async ({ ada, ben, nobody, web }) => {
  const { id } = await ada.owns('one')
  await expect(200, await ada.patch('/repos/ada/one', { name: 'two' }))
  await handOver(ada, '/repos/ada/two', ben, { new_name: 'three' })
  for (const former of ['ada/one', 'ada/two']) {
    const answer = await nobody.get(`/repos/${former}`)
    assert.equal(answer.headers.get('location'), `${web}/api/v3/repositories/${id}`)
  }
  await handOver(ben, '/repos/ben/three', ada, { new_name: 'one' })
  assert.equal((await nobody.read('/repos/ada/one')).id, id)
}))

test('a repository that gets a former name back during a request is found', async () => {
  // The request waits for a lock, on a busy machine for long.
  await using forge = await openForge({ database: { brief: { connect: 4000, lock: 60_000, statement: 60_000 } } })
  const { db } = forge.belfry
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine')
  await expect(200, await ada.patch('/repos/ada/engine', { name: 'motor' }))
  const answering = await db.transaction(async (transaction) => {
    await transaction.query(sql`lock table repository_redirects`)
    // It has found no repository of this name, and looks for a redirect.
    const asked = ada.get('/repos/ada/engine')
    const waits = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await until('the request waits', async () => ((await db.query(waits)).rowCount ?? 0) > 0)
    const owner = await loadAccount(transaction, 'ada')
    const viewer = { viewer_id: owner.id, sees_private: true }
    const repo = await loadRepositoryById(transaction, viewer, id)
    await updateRepository(transaction, viewer, owner, repo, { name: 'engine' })
    return { asked }
  })
  assert.partialDeepStrictEqual(await expect(200, await answering.asked), { id, name: 'engine' })
})

test('a change of case is not a rename', inject(async ({ ada }) => {
  await ada.owns('engine')
  assert.equal((await expect(200, await ada.patch('/repos/ada/engine', { name: 'Engine' }))).name, 'Engine')
  assert.equal((await ada.get('/repos/ada/engine')).status, 200)
}))

test('a new repository at the former name ends the redirect', inject(async ({ ada }) => {
  const old = await ada.owns('engine')
  await expect(200, await ada.patch('/repos/ada/engine', { name: 'motor' }))
  const fresh = await ada.owns('engine')
  assert.notEqual(fresh.id, old.id)
  assert.equal((await ada.read('/repos/ada/engine')).id, fresh.id)
  await expect(200, await ada.patch('/repos/ada/engine', { name: 'third' }))
  assert.equal((await ada.read(`/repositories/${fresh.id}`)).name, 'third')
  const taken = await expect(422, await ada.patch('/repos/ada/third', { name: 'MOTOR' }))
  assert.match(taken.errors[0].message, /already exists/)
  assert.equal((await ada.delete('/repos/ada/third')).status, 204)
  assert.equal((await ada.get('/repos/ada/engine')).status, 404, 'a redirect ends with what it led to')
}))

test('only an owner of the account ends a redirect to another repository', inject(async ({ forge, ada, ben }) => {
  await forge.organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/ben', { role: 'member' }))
  const { id } = await expect(201, await ada.post('/orgs/acme/repos', { name: 'engine' }))
  await expect(200, await ada.patch('/repos/acme/engine', { name: 'motor' }))
  await expect(201, await ben.post('/orgs/acme/repos', { name: 'wheel' }))
  await ada.owns('engine')
  for (const refused of [
    await ben.post('/orgs/acme/repos', { name: 'Engine' }),
    await ben.patch('/repos/acme/wheel', { name: 'engine' }),
    await ben.post('/repos/ada/engine/forks', { organization: 'acme' }),
  ]) {
    assert.match((await expect(422, refused)).errors[0].message, /^name already exists on this account/)
  }
  const moved = await forge.nobody.get('/repos/acme/engine')
  assert.equal(moved.headers.get('location'), `${forge.web}/api/v3/repositories/${id}`)
  await expect(200, await ben.patch('/repos/acme/wheel', { name: 'gear' }))
  await expect(200, await ben.patch('/repos/acme/gear', { name: 'wheel' }))
  assert.equal((await ben.read('/repos/acme/wheel')).name, 'wheel', 'one’s own former name is free')
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'engine' }))
}))

test('a redirect does not reveal a private repository', inject(async ({ ada, ben, nobody, tokenFor }) => {
  await ada.owns('secret', { private: true })
  await expect(200, await ada.patch('/repos/ada/secret', { name: 'hidden' }))
  assert.equal((await ada.get('/repos/ada/secret')).status, 301)
  for (const outsider of [nobody, ben, await tokenFor('ada', ['public_repo'])]) {
    const [moved, absent] = [await outsider.get('/repos/ada/secret'), await outsider.get('/repos/ada/absent')]
    assert.equal(moved.headers.get('location'), null)
    assert.deepEqual(await expect(404, moved), await expect(404, absent))
  }
}))

test('a repository transferred to a user belongs to them, and its former owner may push if they agree', inject(async (forge) => {
  const { ada, ben } = forge
  const cy = await forge.person('cy')
  const { id } = await ada.owns('secret', { private: true })
  await expect(201, await ada.put('/repos/ada/secret/collaborators/ben'))
  const given = await handOver(ada, '/repos/ada/secret', ben, { new_name: 'gift', keep_former_owner: true })
  assert.partialDeepStrictEqual(given, { id, full_name: 'ben/gift', private: true, permissions: { admin: true } })
  assert.partialDeepStrictEqual((await ada.read('/repos/ben/gift')).permissions, { push: true, admin: false })
  assert.deepEqual(await ben.read('/user/repository_invitations'), [], 'nobody is invited to what is theirs')
  assert.equal((await ada.delete('/repos/ben/gift')).status, 403)
  assert.equal((await cy.get('/repos/ben/gift')).status, 404)
  assert.equal((await ben.post('/repos/ben/gift/transfer', { new_owner: 'ben' })).status, 422)
  assert.equal((await ben.post('/repos/ben/gift/transfer', { new_owner: 'nobody-here' })).status, 422)
}))

test('only a member transfers a repository to an organization at once', inject(async ({ ada, ben, organization }) => {
  await organization('acme', ben)
  await ada.owns('engine')
  const pending = await expect(202, await ada.post('/repos/ada/engine/transfer', { new_owner: 'acme' }))
  assert.equal(pending.full_name, 'ada/engine')
  await expect(200, await ben.put('/orgs/acme/memberships/ada'))
  const given = await expect(202, await ada.post('/repos/ada/engine/transfer', { new_owner: 'acme' }))
  assert.partialDeepStrictEqual(given, { full_name: 'acme/engine', owner: { type: 'Organization' } })
  assert.equal((await ada.read('/repos/acme/engine')).permissions.push, true)
  assert.equal((await ben.read('/repos/acme/engine')).permissions.admin, true)
  await expect(201, await ada.post('/user/repos', { name: 'engine' }))
  const taken = await expect(422, await ada.post('/repos/ada/engine/transfer', { new_owner: 'acme' }))
  assert.partialDeepStrictEqual(taken.errors, [{ field: 'name' }])
}))

test('an organization’s private repository can be transferred to a user, and the giver may lose access', inject(async (forge) => {
  const { ada, ben } = forge
  await forge.organization('acme', ada)
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'plans', private: true }))
  await expect(201, await ada.post('/orgs/acme/teams', { name: 'Core' }))
  assert.equal((await ada.put('/orgs/acme/teams/core/repos/acme/plans')).status, 204)
  assert.equal((await handOver(ada, '/repos/acme/plans', ben)).full_name, 'ben/plans')
  assert.equal((await ben.read('/repos/ben/plans')).permissions.admin, true)
  assert.equal((await ada.get('/repos/ben/plans')).status, 404)
  assert.equal((await ada.get('/repos/acme/plans')).status, 404)
}))

test('a public client creates, renames, reads by the former name, forks and deletes', inject(async ({ forge, ada, ben }) => {
  for (const baseUrl of [`${forge.web}/api/v3`, forge.versioned]) {
    const octokit = new Octokit({ auth: ada.token, baseUrl })
    const { data: made } = await octokit.rest.repos.createForAuthenticatedUser({ name: 'engine', auto_init: true })
    const { data: renamed } = await octokit.rest.repos.update({ owner: 'ada', repo: 'engine', name: 'motor' })
    assert.equal(renamed.full_name, 'ada/motor')
    const { data: found } = await octokit.rest.repos.get({ owner: 'ada', repo: 'engine' })
    assert.equal(found.id, made.id)
    const { data: changed } = await octokit.rest.repos.update({ owner: 'ada', repo: 'engine', description: 'New' })
    assert.equal(changed.description, 'New')
    const { status, data: fork } = await new Octokit({ auth: ben.token, baseUrl }).rest.repos.createFork({
      owner: 'ada',
      repo: 'motor',
    })
    assert.equal(status, 202)
    assert.equal(fork.parent?.full_name, 'ada/motor')
    const all = await octokit.paginate(octokit.rest.repos.listForAuthenticatedUser, { per_page: 1 })
    assert.equal(all.length, 1)
    assert.equal((await octokit.rest.repos.delete({ owner: 'ada', repo: 'motor' })).status, 204)
    assert.equal((await ada.get('/repos/ada/motor')).status, 404)
    assert.equal((await ben.delete('/repos/ben/motor')).status, 204)
  }
}))
