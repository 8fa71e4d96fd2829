import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, injecting, linesOf, openForge } from '#test/forge.ts'

const inject = injecting(openAcme)
const logins = (people: { login: string }[]) => people.map((person) => person.login)

/** An organization of Ada's, with Ben in it and Eve outside. */
async function openAcme() {
  const forge = await openForge()
  const [ada, ben, eve] = [await forge.person('ada'), await forge.person('ben'), await forge.person('eve')]
  await forge.organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/ben'))
  return Object.assign(forge, { ada, ben, eve })
}

test('an owner adds members, changes their roles and removes them', inject(async ({ ada, ben, eve, web }) => {
  const membership = await expect(200, await ada.put('/orgs/ACME/memberships/Eve', { role: 'admin' }))
  assert.partialDeepStrictEqual(membership, {
    url: `${web}/api/v3/orgs/acme/memberships/eve`,
    state: 'active',
    role: 'admin',
    organization_url: `${web}/api/v3/orgs/acme`,
    organization: { login: 'acme' },
    user: { login: 'eve', type: 'User' },
  })
  assert.equal((await eve.read('/user/memberships/orgs/acme')).role, 'admin')
  assert.equal((await expect(200, await eve.put('/orgs/acme/memberships/ada', { role: 'member' }))).role, 'member')
  assert.equal((await ada.put('/orgs/acme/memberships/ben', { role: 'admin' })).status, 403)
  assert.equal((await ben.read('/orgs/acme/memberships/ada')).role, 'member')
  assert.equal((await eve.delete('/orgs/acme/members/ada')).status, 204)
  assert.equal((await eve.delete('/orgs/acme/members/ada')).status, 404)
  assert.equal((await ada.get('/user/memberships/orgs/acme')).status, 404)
  assert.equal((await eve.delete('/orgs/acme/memberships/ben')).status, 204)
  assert.deepEqual(logins(await eve.read('/orgs/acme/members')), ['eve'])
}))

test('only users can be members, in one of the two roles', inject(async ({ organization, ada }) => {
  await organization('other', ada)
  assert.equal((await ada.put('/orgs/acme/memberships/other')).status, 422)
  assert.equal((await ada.put('/orgs/acme/memberships/nobody-here')).status, 404)
  assert.equal((await ada.put('/orgs/acme/memberships/eve', { role: 'king' })).status, 422)
}))

test('the last owner can neither leave nor step down', inject(async ({ ada, ben }) => {
  const refusal = await expect(403, await ada.delete('/orgs/acme/memberships/ada'))
  assert.match(refusal.message, /last owner/)
  assert.equal((await ada.delete('/orgs/acme/members/ada')).status, 403)
  assert.equal((await ada.put('/orgs/acme/memberships/ada', { role: 'member' })).status, 403)
  await expect(200, await ada.put('/orgs/acme/memberships/ben', { role: 'admin' }))
  assert.equal((await ada.delete('/orgs/acme/memberships/ada')).status, 204)
  assert.deepEqual(logins(await ben.read('/orgs/acme/members?role=admin')), ['ben'])
}))

test('a member may leave, and only owners may remove others', inject(async ({ ada, ben }) => {
  await expect(200, await ada.put('/orgs/acme/memberships/eve'))
  assert.equal((await ben.delete('/orgs/acme/memberships/eve')).status, 403)
  assert.equal((await ben.delete('/orgs/acme/members/eve')).status, 403)
  assert.equal((await ben.delete('/orgs/acme/memberships/ben')).status, 204)
  assert.equal((await ben.delete('/orgs/acme/memberships/eve')).status, 404)
}))

test('when all owners leave concurrently, one stays', inject(async ({ ada, ben }) => {
  for (let round = 0; round < 5; round++) {
    await expect(200, await ada.put('/orgs/acme/memberships/ben', { role: 'admin' }))
    const left = await Promise.all([ada.delete('/orgs/acme/memberships/ada'), ben.delete('/orgs/acme/memberships/ben')])
    assert.deepEqual(left.map((answer) => answer.status).sort(), [204, 403])
    const owner = left[0]?.status === 403 ? ada : ben
    assert.deepEqual(logins(await owner.read('/orgs/acme/members?role=admin')), [owner.login])
    await expect(200, await owner.put('/orgs/acme/memberships/ada', { role: 'admin' }))
  }
}))

test('non-members see public members only', inject(async ({ ada, ben, eve, nobody, tokenFor }) => {
  assert.deepEqual(logins(await ben.read('/orgs/acme/members')), ['ada', 'ben'])
  assert.deepEqual(logins(await ben.read('/orgs/acme/members?role=member')), ['ben'])
  assert.deepEqual(await eve.read('/orgs/acme/members'), [])
  assert.deepEqual(await nobody.read('/users/ben/orgs'), [])
  assert.equal((await ben.put('/orgs/acme/public_members/ben')).status, 204)
  assert.equal((await ada.put('/orgs/acme/public_members/ben')).status, 403)
  const shown = await ada.read('/orgs/acme/public_members')
  assert.deepEqual(linesOf(shown, 'login'), ['ben'])
  assert.equal((await eve.put('/orgs/acme/public_members/eve')).status, 404)
  for (const outsider of [eve, nobody, await tokenFor('ben', ['repo'])]) {
    assert.deepEqual(logins(await outsider.read('/orgs/acme/members')), ['ben'])
  }
  assert.deepEqual(logins(await nobody.read('/users/ben/orgs')), ['acme'])
  assert.equal((await ben.delete('/orgs/acme/public_members/ben')).status, 204)
  assert.deepEqual(await nobody.read('/orgs/acme/members'), [])
}))

test('only members can read memberships', inject(async ({ ben, eve, tokenFor }) => {
  assert.equal((await ben.get('/orgs/acme/members/ada')).status, 204)
  assert.equal((await ben.get('/orgs/acme/members/eve')).status, 404)
  assert.equal((await eve.get('/orgs/acme/members/ada')).status, 404)
  assert.equal((await eve.get('/orgs/acme/memberships/ada')).status, 404)
  assert.equal((await (await tokenFor('ben', [])).get('/orgs/acme/members/ada')).status, 404)
  assert.equal((await (await tokenFor('ben', [])).get('/orgs/acme/memberships/ada')).status, 403)
}))

test('members see more fields of an organization than non-members', inject(async ({ ada, ben, eve, nobody, tokenFor }) => {
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'plans', private: true }))
  const inside = await ben.read('/orgs/acme')
  assert.partialDeepStrictEqual(inside, { total_private_repos: 1, default_repository_permission: 'read', public_repos: 0 })
  for (const outsider of [eve, nobody, await tokenFor('ben', ['repo'])]) {
    const seen = await outsider.read('/orgs/acme')
    assert.equal(seen.login, 'acme')
    for (const field of ['total_private_repos', 'owned_private_repos', 'default_repository_permission']) {
      assert.ok(!(field in seen), field)
    }
  }
}))

test('owners change the profile', inject(async ({ ada, ben, eve, nobody }) => {
  const profile = { name: 'Acme Inc.', description: 'Anvils', blog: 'https://acme.example', location: 'Here' }
  assert.partialDeepStrictEqual(await expect(200, await ada.patch('/orgs/acme', profile)), profile)
  await expect(200, await ada.patch('/orgs/acme', { email: 'office@example.com' }))
  assert.partialDeepStrictEqual(await nobody.read('/orgs/acme'), { ...profile, email: 'office@example.com' })
  assert.equal((await ben.patch('/orgs/acme', { name: 'Ben & Co.' })).status, 403)
  assert.equal((await eve.patch('/orgs/acme', { name: 'Eve & Co.' })).status, 404)
}))

test('a user’s organizations are ordered by name', inject(async (forge) => {
  await forge.organization('Aardvark', forge.ben)
  assert.deepEqual(logins(await forge.ben.read('/user/orgs')), ['Aardvark', 'acme'])
  const memberships: { role: string; organization: { login: string } }[] = await forge.ben.read('/user/memberships/orgs')
  assert.deepEqual(linesOf(memberships, 'organization.login', 'role'), ['Aardvark admin', 'acme member'])
  assert.equal((await (await forge.tokenFor('ben', ['repo'])).get('/user/orgs')).status, 403)
}))

test('a user who leaves loses access to the organization’s private repositories', inject(async ({ ada, ben }) => {
  await expect(201, await ben.post('/orgs/acme/repos', { name: 'plans', private: true }))
  await expect(201, await ada.post('/orgs/acme/teams', { name: 'Core' }))
  await expect(200, await ada.put('/orgs/acme/teams/core/memberships/ben'))
  assert.equal((await ada.put('/orgs/acme/teams/core/repos/acme/plans', { permission: 'push' })).status, 204)
  assert.equal((await ben.read('/repos/acme/plans')).permissions.admin, true)
  assert.equal((await ben.delete('/orgs/acme/memberships/ben')).status, 204)
  assert.equal((await ben.get('/repos/acme/plans')).status, 404)
  assert.deepEqual(await ben.read('/user/teams'), [])
  await expect(200, await ada.put('/orgs/acme/memberships/ben'))
  assert.deepEqual((await ben.read('/repos/acme/plans')).permissions.push, false)
}))
