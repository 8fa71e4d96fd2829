import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, injecting, openForge } from '#test/forge.ts'

const inject = injecting(openAcme)
const logins = (people: { login: string }[]) => people.map((person) => person.login)
const slugs = (teams: { slug: string }[]) => teams.map((team) => team.slug)

/** An organization of Ada's, with Ben and Cy in it and Eve outside. */
async function openAcme() {
  const forge = await openForge()
  const [ada, ben, cy] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cy')]
  const eve = await forge.person('eve')
  await forge.organization('acme', ada)
  for (const { login } of [ben, cy]) await expect(200, await ada.put(`/orgs/acme/memberships/${login}`))
  return Object.assign(forge, { ada, ben, cy, eve })
}

test('a member creates a team and becomes its maintainer', inject(async ({ forge, ben }) => {
  const answer = await ben.post('/orgs/acme/teams', { name: ' The Résumé Team! ', description: 'Words' })
  const url = `${forge.web}/api/v3/orgs/acme/teams/the-resume-team`
  assert.equal(answer.headers.get('location'), url)
  assert.partialDeepStrictEqual(await expect(201, answer), {
    url,
    name: 'The Résumé Team!',
    slug: 'the-resume-team',
    description: 'Words',
    privacy: 'secret',
    permission: 'pull',
    parent: null,
    members_count: 1,
    repos_count: 0,
    organization: { login: 'acme' },
  })
  assert.partialDeepStrictEqual(await ben.read('/orgs/acme/teams/THE-resume-team/memberships/ben'), {
    role: 'maintainer',
    state: 'active',
  })
  assert.deepEqual(slugs(await ben.read('/user/teams')), ['the-resume-team'])
  const versioned = await ben.versioned.read('/orgs/acme/teams/the-resume-team')
  assert.equal(versioned.url, `${forge.versioned}/orgs/acme/teams/the-resume-team`)
}))

test('a team’s name is unique in the organization, and needs a letter or digit', inject(async ({ ben, ada, eve }) => {
  await expect(201, await ben.post('/orgs/acme/teams', { name: 'Core' }))
  const taken = await expect(422, await ada.post('/orgs/acme/teams', { name: 'core!' }))
  assert.partialDeepStrictEqual(taken.errors, [{ resource: 'Team', code: 'already_exists', field: 'name' }])
  const empty = await expect(422, await ada.post('/orgs/acme/teams', { name: '!!!' }))
  assert.partialDeepStrictEqual(empty.errors, [{ resource: 'Team', code: 'invalid', field: 'name' }])
  assert.equal((await ada.post('/orgs/acme/teams', { name: 'Open', privacy: 'open' })).status, 422)
  assert.equal((await eve.post('/orgs/acme/teams', { name: 'Outside' })).status, 404)
}))

test('a secret team is visible to its members and owners, a closed one to all members', inject(async (forge) => {
  const { ada, ben, cy, eve } = forge
  await expect(201, await ben.post('/orgs/acme/teams', { name: 'Hidden', privacy: 'secret' }))
  await expect(201, await ben.post('/orgs/acme/teams', { name: 'Open', privacy: 'closed' }))
  for (const person of [ada, ben]) assert.deepEqual(slugs(await person.read('/orgs/acme/teams')), ['hidden', 'open'])
  assert.deepEqual(slugs(await cy.read('/orgs/acme/teams')), ['open'])
  const [hidden, absent] = [await cy.get('/orgs/acme/teams/hidden'), await cy.get('/orgs/acme/teams/absent')]
  assert.deepEqual(await expect(404, hidden), await expect(404, absent))
  assert.equal((await cy.get('/orgs/acme/teams/open')).status, 200)
  assert.equal((await cy.get('/orgs/acme/teams/hidden/members')).status, 404)
  assert.equal((await eve.get('/orgs/acme/teams')).status, 404)
  assert.equal((await eve.get('/orgs/acme/teams/open')).status, 404)
  assert.equal((await forge.nobody.get('/orgs/acme/teams')).status, 401)
}))

test('only maintainers and owners can change a team', inject(async ({ ada, ben, cy }) => {
  await expect(201, await ben.post('/orgs/acme/teams', { name: 'Core', privacy: 'closed' }))
  await expect(201, await ben.post('/orgs/acme/teams', { name: 'Other', privacy: 'closed' }))
  assert.equal((await cy.patch('/orgs/acme/teams/core', { name: 'Mine' })).status, 403)
  assert.equal((await cy.delete('/orgs/acme/teams/core')).status, 403)
  assert.equal((await cy.put('/orgs/acme/teams/core/memberships/cy')).status, 403)
  const renamed = await expect(200, await ben.patch('/orgs/acme/teams/core', { name: 'Kernel' }))
  assert.partialDeepStrictEqual(renamed, { slug: 'kernel', name: 'Kernel', privacy: 'closed' })
  assert.equal((await ben.get('/orgs/acme/teams/core')).status, 404)
  assert.equal((await ben.patch('/orgs/acme/teams/kernel', { name: 'other' })).status, 422)
  await expect(200, await ada.patch('/orgs/acme/teams/kernel', { privacy: 'secret', description: 'Inside' }))
  assert.equal((await cy.get('/orgs/acme/teams/kernel')).status, 404)
  assert.equal((await ada.delete('/orgs/acme/teams/kernel')).status, 204)
  assert.deepEqual(slugs(await ben.read('/user/teams')), ['other'])
}))

test('concurrent changes of a team are all kept', inject(async ({ ben }) => {
  await expect(201, await ben.post('/orgs/acme/teams', { name: 'Core' }))
  const parts = [{ name: 'core' }, { description: 'Inside' }, { privacy: 'closed' }]
  const answers = await Promise.all(parts.map((part) => ben.patch('/orgs/acme/teams/core', part)))
  for (const answer of answers) assert.equal(answer.status, 200)
  const wanted = { name: 'core', description: 'Inside', privacy: 'closed' }
  assert.partialDeepStrictEqual(await ben.read('/orgs/acme/teams/core'), wanted)
}))

test('maintainers add members of the organization; only owners add other users', inject(async ({ ada, ben, cy, eve }) => {
  await expect(201, await ben.post('/orgs/acme/teams', { name: 'Core' }))
  const added = await expect(200, await ben.put('/orgs/acme/teams/core/memberships/cy'))
  assert.partialDeepStrictEqual(added, { role: 'member', state: 'active' })
  assert.equal((await ben.put('/orgs/acme/teams/core/memberships/eve')).status, 403)
  assert.equal((await eve.get('/user/memberships/orgs/acme')).status, 404)
  await expect(200, await ada.put('/orgs/acme/teams/core/memberships/eve', { role: 'maintainer' }))
  assert.equal((await eve.read('/user/memberships/orgs/acme')).role, 'member')
  assert.deepEqual(logins(await cy.read('/orgs/acme/teams/core/members')), ['ben', 'cy', 'eve'])
  assert.deepEqual(logins(await cy.read('/orgs/acme/teams/core/members?role=maintainer')), ['ben', 'eve'])
  assert.equal((await expect(200, await eve.put('/orgs/acme/teams/core/memberships/ben'))).role, 'member')
  assert.equal((await ben.put('/orgs/acme/teams/core/memberships/cy', { role: 'maintainer' })).status, 403)
  assert.equal((await ada.put('/orgs/acme/teams/core/memberships/acme')).status, 422)
}))

test('a member leaves a team, and only maintainers remove others', inject(async ({ ben, cy, eve }) => {
  await expect(201, await ben.post('/orgs/acme/teams', { name: 'Core', privacy: 'closed' }))
  await expect(200, await ben.put('/orgs/acme/teams/core/memberships/cy'))
  assert.equal((await cy.delete('/orgs/acme/teams/core/memberships/ben')).status, 403)
  assert.equal((await cy.delete('/orgs/acme/teams/core/memberships/cy')).status, 204)
  assert.equal((await cy.get('/orgs/acme/teams/core/memberships/cy')).status, 404)
  assert.equal((await ben.delete('/orgs/acme/teams/core/memberships/cy')).status, 404)
  assert.equal((await eve.delete('/orgs/acme/teams/core/memberships/eve')).status, 404)
}))

test('a user who leaves the organization leaves its teams', inject(async ({ ada, ben }) => {
  await expect(201, await ben.post('/orgs/acme/teams', { name: 'Core' }))
  assert.equal((await ben.delete('/orgs/acme/memberships/ben')).status, 204)
  assert.deepEqual(await ada.read('/orgs/acme/teams/core/members'), [])
  await expect(200, await ada.put('/orgs/acme/memberships/ben'))
  assert.equal((await ben.get('/orgs/acme/teams/core')).status, 404)
}))

test('a user who leaves while being added does not stay in the team', inject(async ({ ada, ben, cy }) => {
  await expect(201, await ben.post('/orgs/acme/teams', { name: 'Core' }))
  for (let round = 0; round < 5; round++) {
    await Promise.all([cy.delete('/orgs/acme/memberships/cy'), ben.put('/orgs/acme/teams/core/memberships/cy')])
    assert.deepEqual(logins(await ada.read('/orgs/acme/teams/core/members')), ['ben'])
    await expect(200, await ada.put('/orgs/acme/memberships/cy'))
  }
}))

test('an admin of a repository gives a team access', inject(async ({ ada, ben, cy }) => {
  await expect(200, await ada.patch('/orgs/acme', { default_repository_permission: 'none' }))
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'plans', private: true }))
  await expect(201, await ben.post('/orgs/acme/teams', { name: 'Core', privacy: 'closed' }))
  const path = '/orgs/acme/teams/core/repos/acme/plans'
  assert.equal((await ben.put(path)).status, 404, 'a repository that is hidden from them')
  assert.equal((await ada.get(path)).status, 404)
  assert.equal((await ada.put(path)).status, 204)
  assert.equal((await ben.read('/repos/acme/plans')).permissions.push, false)
  assert.equal((await ben.put(path, { permission: 'admin' })).status, 403)
  assert.equal((await ada.put(path, { permission: 'maintain' })).status, 204)
  assert.partialDeepStrictEqual((await ben.read('/repos/acme/plans')).permissions, { maintain: true, admin: false })
  assert.equal((await ben.get(path)).status, 204)
  const detail = ben.with({ accept: 'application/vnd.github.v3.repository+json' })
  assert.partialDeepStrictEqual(await detail.read(path), { full_name: 'acme/plans', role_name: 'maintain' })
  const teams = await ada.read('/repos/acme/plans/teams')
  assert.partialDeepStrictEqual(teams, [{ slug: 'core', permission: 'maintain' }])
  assert.equal((await cy.get('/repos/acme/plans')).status, 404)
  assert.deepEqual(await cy.read('/orgs/acme/teams/core/repos'), [], 'what cy may not see is not listed')
  assert.equal((await ben.read('/orgs/acme/teams/core/repos')).length, 1)
  assert.equal((await ada.put(path, { permission: 'most' })).status, 422)
  assert.equal((await cy.delete(path)).status, 404)
  assert.equal((await ben.delete(path)).status, 204)
  assert.equal((await ben.get('/repos/acme/plans')).status, 404)
}))

test('a team gets access to its own organization’s repositories only', inject(async ({ ada }) => {
  await ada.owns('engine')
  await expect(201, await ada.post('/orgs/acme/teams', { name: 'Core' }))
  assert.equal((await ada.put('/orgs/acme/teams/core/repos/ada/engine')).status, 422)
}))

test('deleting a team ends the access that it gave', inject(async ({ ada, ben }) => {
  await expect(200, await ada.patch('/orgs/acme', { default_repository_permission: 'none' }))
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'plans', private: true }))
  await expect(201, await ben.post('/orgs/acme/teams', { name: 'Core' }))
  assert.equal((await ada.put('/orgs/acme/teams/core/repos/acme/plans')).status, 204)
  assert.equal((await ben.get('/repos/acme/plans')).status, 200)
  assert.equal((await ben.delete('/orgs/acme/teams/core')).status, 204)
  assert.equal((await ben.get('/repos/acme/plans')).status, 404)
}))
