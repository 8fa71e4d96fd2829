import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Contract } from '#test/activity/schemas.ts'
import { join } from '#test/conversations.ts'
import { expect, injecting, linesOf, openForge, pick } from '#test/forge.ts'
import { heardOf, hookOn } from '#test/webhooks.ts'

/** An organization of Ada's with two private repositories. Ben is a member, in a team that may push to one of them. Cy collaborates on the other. */
const open = injecting(async () => {
  const forge = await openForge()
  const [ada, ben, cy] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cy')]
  await forge.organization('acme', ada)
  for (const name of ['engine', 'plans']) await expect(201, await ada.post('/orgs/acme/repos', { name, private: true }))
  await expect(201, await ada.post('/orgs/acme/teams', { name: 'Core' }))
  await expect(200, await ada.put('/orgs/acme/teams/core/memberships/ben'))
  await expect(204, await ada.put('/orgs/acme/teams/core/repos/acme/engine', { permission: 'push' }))
  await join(ada, cy, 'pull', '/repos/acme/plans')
  return Object.assign(forge, { ada, ben, cy })
})

const outside = '/orgs/acme/outside_collaborators'

test(
  'a member becomes an outside collaborator, and keeps the access that teams gave',
  open(async ({ forge, ada, ben, cy }) => {
    const list = await ada.read(outside)
    assert.deepEqual(pick(list, 'login'), ['cy'])
    for (const variant of ['self-hosted', 'versioned'] as const)
      assert.deepEqual(Contract.of(variant).check('orgs/list-outside-collaborators', 200, 'application/json', list), [])
    await expect(200, await ada.patch('/orgs/acme', { default_repository_permission: 'read' }))
    assert.equal((await ben.get('/repos/acme/plans')).status, 200)
    await hookOn(ada, 'orgs/acme', 'organization', 'membership', 'member')
    const heard = await heardOf(forge, async () => expect(204, await ada.put(`${outside}/ben`)))
    assert.deepEqual(linesOf(heard, 'event', 'payload.action'), [
      'member added',
      'membership removed',
      'organization member_removed',
    ])
    assert.deepEqual(pick(await ada.read(outside), 'login'), ['ben', 'cy'])
    assert.equal((await ben.read('/repos/acme/engine')).permissions.push, true)
    assert.equal((await ben.get('/repos/acme/plans')).status, 404, 'which members may read')
    assert.equal((await ada.get('/orgs/acme/members/ben')).status, 404)
    assert.equal((await ada.put(`${outside}/ben`)).status, 403, 'no member any more')
    assert.equal((await ada.put(`${outside}/ada`)).status, 403, 'the last owner')
    await expect(200, await ada.put('/orgs/acme/memberships/ben'))
    assert.deepEqual(await (await expectRaw(202, ada.put(`${outside}/ben`, { async: true }))).json(), {})
    assert.deepEqual(pick(await ada.read(`${outside}?filter=2fa_disabled`), 'login'), ['ben', 'cy'])
    assert.deepEqual(await ada.read(`${outside}?filter=2fa_insecure`), [])
    for (const [person, status] of [
      [cy, 404],
      [ben, 404],
    ] as const)
      assert.equal((await person.get(outside)).status, status)
  }),
)

test(
  'removing an outside collaborator ends their access to all repositories of the organization',
  open(async ({ forge, ada, ben, cy }) => {
    await expect(201, await ada.put('/repos/acme/engine/collaborators/cy'))
    assert.equal((await ada.delete(`${outside}/ben`)).status, 422, 'a member')
    assert.equal((await ben.delete(`${outside}/cy`)).status, 403)
    await hookOn(ada, 'repos/acme/plans', 'member')
    const heard = await heardOf(forge, async () => expect(204, await ada.delete(`${outside}/cy`)))
    assert.deepEqual(linesOf(heard, 'payload.action', 'payload.repository.name'), ['removed plans'])
    assert.equal((await cy.get('/repos/acme/plans')).status, 404)
    assert.deepEqual(await cy.read('/user/repository_invitations'), [])
    assert.deepEqual(await ada.read(outside), [])
    await expect(204, await ada.delete(`${outside}/cy`))
  }),
)

async function expectRaw(status: number, asked: Promise<Response>) {
  const answer = await asked
  assert.equal(answer.status, status)
  return answer
}
