import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, expect, injecting, openForge } from '#test/forge.ts'

const inject = injecting(openForge)

/** The whole response, without the parts that always differ. */
async function whole(answer: Response) {
  const varying = ['date', 'x-service-request-id']
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !varying.includes(name)))
  return { status: answer.status, headers, body: await answer.text() }
}

test('a private repository and a missing one give identical responses to callers without access', inject(async (forge) => {
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  const { id } = await ada.owns('secret', { private: true })
  const weak = await forge.tokenFor('ada', ['public_repo', 'delete_repo', 'write:org'])
  const reads = ['', '/forks']
  const writes: ((client: Client, path: string) => Promise<Response>)[] = [
    (client, path) => client.patch(path, { description: 'New' }),
    (client, path) => client.delete(path),
    (client, path) => client.post(`${path}/forks`),
    (client, path) => client.post(`${path}/transfer`, { new_owner: 'ben' }),
    (client, path) => client.put(`${path}/collaborators/ben`),
    (client, path) => client.get(`${path}/collaborators`),
  ]
  for (const outsider of [forge.nobody, forge.nobodyVersioned, ben, ben.versioned, weak]) {
    for (const rest of reads) {
      const [hidden, absent] = [await outsider.get(`/repos/ada/secret${rest}`), await outsider.get(`/repos/ada/absent${rest}`)]
      assert.equal(hidden.status, 404)
      assert.deepEqual(await whole(hidden), await whole(absent))
      const [byId, byNoId] = [await outsider.get(`/repositories/${id}${rest}`), await outsider.get(`/repositories/999999${rest}`)]
      assert.deepEqual(await whole(byId), await whole(byNoId))
    }
    for (const write of writes) {
      const [hidden, absent] = [await write(outsider, '/repos/ada/secret'), await write(outsider, '/repos/ada/absent')]
      assert.equal(hidden.status, 404)
      assert.deepEqual(await whole(hidden), await whole(absent))
    }
  }
  const body = JSON.parse((await whole(await ben.get('/repos/ada/secret'))).body)
  assert.deepEqual(body, { message: 'Not Found', documentation_url: `${forge.web}/docs`, status: '404' })
  assert.equal((await ada.get('/repos/ada/secret')).status, 200)
}))

test('read access can neither change nor delete', inject(async ({ person, nobody }) => {
  const [ada, ben] = [await person('ada'), await person('ben')]
  await ada.owns('engine')
  for (const answer of [
    await ben.patch('/repos/ada/engine', { description: 'Mine' }),
    await ben.delete('/repos/ada/engine'),
    await ben.post('/repos/ada/engine/transfer', { new_owner: 'ben' }),
  ]) {
    const { message, status } = await expect(403, answer)
    assert.equal(message, 'Must have admin rights to Repository.')
    assert.equal(status, '403')
  }
  assert.equal((await expect(401, await nobody.delete('/repos/ada/engine'))).message, 'Requires authentication')
}))

test('a token with public_repo can neither create a private repository nor make one private', inject(async (forge) => {
  await forge.person('ada')
  const weak = await forge.tokenFor('ada', ['public_repo'])
  await weak.owns('engine')
  assert.equal((await expect(200, await weak.patch('/repos/ada/engine', { description: 'New' }))).description, 'New')
  for (const answer of [
    await weak.post('/user/repos', { name: 'diary', private: true }),
    await weak.post('/user/repos', { name: 'diary', visibility: 'private' }),
    await weak.patch('/repos/ada/engine', { private: true }),
  ]) {
    assert.equal((await expect(403, answer)).message, "Missing the 'repo' scope.")
  }
}))

test('access is the highest level of all its sources', inject(async ({ person, organization }) => {
  const [ada, ben, cy] = [await person('ada'), await person('ben'), await person('cy')]
  await organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/ben'))
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'plans', private: true }))
  const accessOf = async (client: Client) => {
    const answer = await client.get('/repos/acme/plans')
    const listed = await client.read('/orgs/acme/repos')
    if (answer.status === 404) {
      assert.deepEqual(listed, [])
      return 'none'
    }
    const { permissions } = (await answer.json()) as { permissions: Record<string, boolean> }
    assert.deepEqual(listed[0].permissions, permissions)
    return ['admin', 'maintain', 'push', 'triage', 'pull'].find((level) => permissions[level])
  }
  const everyone = (permission: string) => ada.patch('/orgs/acme', { default_repository_permission: permission })

  assert.deepEqual([await accessOf(ada), await accessOf(ben), await accessOf(cy)], ['admin', 'pull', 'none'])
  assert.equal((await expect(200, await everyone('none'))).default_repository_permission, 'none')
  assert.equal(await accessOf(ben), 'none')
  await expect(201, await ada.post('/orgs/acme/teams', { name: 'Core' }))
  await expect(200, await ada.put('/orgs/acme/teams/core/memberships/ben'))
  await ada.put('/orgs/acme/teams/core/repos/acme/plans', { permission: 'triage' })
  assert.equal(await accessOf(ben), 'triage')
  assert.equal((await expect(200, await everyone('write'))).default_repository_permission, 'write')
  assert.equal(await accessOf(ben), 'push')
  assert.equal((await ada.put('/repos/acme/plans/collaborators/ben', { permission: 'maintain' })).status, 204)
  assert.equal(await accessOf(ben), 'maintain')
  await ada.put('/orgs/acme/teams/core/repos/acme/plans', { permission: 'admin' })
  assert.equal(await accessOf(ben), 'admin')
  await expect(200, await ada.put('/orgs/acme/memberships/ben', { role: 'admin' }))
  assert.equal((await ada.delete('/orgs/acme/teams/core')).status, 204)
  assert.equal(await accessOf(ben), 'admin')
  assert.equal(await accessOf(cy), 'none', 'what members have, outsiders do not')
  assert.equal((await ben.put('/orgs/acme/memberships/ada', { role: 'member' })).status, 200)
  assert.equal(await accessOf(ada), 'push', 'an owner no more')
}))

test('the creator of a repository in an organization is its admin', inject(async ({ person, organization }) => {
  const [ada, ben, cy] = [await person('ada'), await person('ben'), await person('cy')]
  await organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/ben'))
  const made = await expect(201, await ben.post('/orgs/acme/repos', { name: 'plans', private: true }))
  assert.equal(made.permissions.admin, true)
  assert.equal(made.organization.login, 'acme')
  assert.equal((await expect(200, await ben.patch('/repos/acme/plans', { description: 'Mine' }))).description, 'Mine')
  assert.equal((await cy.post('/orgs/acme/repos', { name: 'other' })).status, 404)
  assert.equal((await ada.read('/orgs/acme/repos')).length, 1)
  assert.equal((await ben.read('/user/repos?type=member')).length, 1)
  assert.deepEqual(await ben.read('/user/repos?type=owner'), [])
  assert.deepEqual(await cy.read('/orgs/acme/repos'), [])
}))
