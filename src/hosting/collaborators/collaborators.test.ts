import assert from 'node:assert/strict'
import { test } from 'node:test'
import { join } from '#test/conversations.ts'
import { expect, injecting, linesOf, openForge } from '#test/forge.ts'
import { Octokit } from '#test/octokit.ts'
import { handOver } from '#test/transfers.ts'
import { checkPayload } from '#test/webhook-schemas.ts'
import { heardOf, hookOn } from '#test/webhooks.ts'

const inject = injecting(openSecret)
const day = 24 * 60 * 60 * 1000
const logins = (people: { login: string }[]) => people.map((person) => person.login)

/** A private repository of Ada's, with Ben and Cy outside. */
async function openSecret() {
  const forge = await openForge()
  const [ada, ben, cy] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cy')]
  await ada.owns('secret', { private: true })
  const invite = async (login: string, permission?: string) =>
    expect(201, await ada.put(`/repos/ada/secret/collaborators/${login}`, permission ? { permission } : undefined))
  return Object.assign(forge, { ada, ben, cy, invite })
}

test('a new collaborator is invited, and gets access by accepting', inject(async ({ ada, ben, web }) => {
  const answer = await ada.put('/repos/ada/secret/collaborators/BEN')
  const invitation = await expect(201, answer)
  const url = `${web}/api/v3/user/repository_invitations/${invitation.id}`
  assert.equal(answer.headers.get('location'), url)
  assert.partialDeepStrictEqual(invitation, {
    url,
    permissions: 'write',
    expired: false,
    created_at: '2026-02-03T04:05:06Z',
    repository: { full_name: 'ada/secret', private: true },
    invitee: { login: 'ben' },
    inviter: { login: 'ada' },
  })
  assert.equal((await ben.get('/repos/ada/secret')).status, 404)
  assert.deepEqual(await ben.read('/user/repository_invitations'), [invitation])
  assert.deepEqual(await ada.read('/repos/ada/secret/invitations'), [invitation])
  assert.equal((await ben.patch(`/user/repository_invitations/${invitation.id}`)).status, 204)
  assert.partialDeepStrictEqual((await ben.read('/repos/ada/secret')).permissions, { push: true, admin: false })
  assert.deepEqual(await ben.read('/user/repository_invitations'), [])
  assert.equal((await ben.patch(`/user/repository_invitations/${invitation.id}`)).status, 404)
  assert.deepEqual(logins(await ben.read('/repos/ada/secret/collaborators')), ['ada', 'ben'])
}))

test('an invitation is visible on both variants, and to a token with the invitation scope only', inject(async (forge) => {
  const { id } = await forge.invite('ben')
  const [seen] = await forge.ben.versioned.read('/user/repository_invitations')
  assert.equal(seen.url, `${forge.versioned}/user/repository_invitations/${id}`)
  const narrow = await forge.tokenFor('ben', ['repo:invite'])
  assert.equal((await narrow.read('/user/repository_invitations')).length, 1)
  assert.equal((await narrow.patch(`/user/repository_invitations/${id}`)).status, 204)
  assert.equal((await narrow.get('/repos/ada/secret')).status, 404, 'the token still does not see what is private')
  assert.equal((await forge.ben.get('/repos/ada/secret')).status, 200)
  assert.equal((await (await forge.tokenFor('ben', ['gist'])).get('/user/repository_invitations')).status, 403)
}))

test('only the invitee can accept or decline an invitation', inject(async ({ ben, cy, invite, ada }) => {
  const { id } = await invite('ben')
  assert.equal((await cy.patch(`/user/repository_invitations/${id}`)).status, 404)
  assert.equal((await cy.delete(`/user/repository_invitations/${id}`)).status, 404)
  assert.equal((await ben.delete(`/user/repository_invitations/${id}`)).status, 204)
  assert.equal((await ben.patch(`/user/repository_invitations/${id}`)).status, 404)
  assert.equal((await ben.get('/repos/ada/secret')).status, 404)
  assert.deepEqual(await ada.read('/repos/ada/secret/invitations'), [])
}))

test('an invitation expires after seven days', inject(async ({ ada, ben, cy, invite, clock }) => {
  const [first, second] = [await invite('ben'), await invite('cy')]
  clock.advance(7 * day - 1)
  assert.equal((await ben.patch(`/user/repository_invitations/${first.id}`)).status, 204)
  clock.advance(1)
  assert.deepEqual(await cy.read('/user/repository_invitations'), [])
  assert.deepEqual(await ada.read('/repos/ada/secret/invitations'), [])
  assert.equal((await cy.patch(`/user/repository_invitations/${second.id}`)).status, 404)
  assert.equal((await ada.patch(`/repos/ada/secret/invitations/${second.id}`, { permissions: 'read' })).status, 404)
  const again = await invite('cy')
  assert.equal((await cy.patch(`/user/repository_invitations/${again.id}`)).status, 204)
}))

test('an admin changes or cancels an invitation', inject(async ({ ada, ben, cy, invite }) => {
  const [first, second] = [await invite('ben', 'admin'), await invite('cy')]
  assert.equal(first.permissions, 'admin')
  const path = `/repos/ada/secret/invitations/${first.id}`
  assert.equal((await expect(200, await ada.patch(path, { permissions: 'read' }))).permissions, 'read')
  assert.equal((await ada.patch(path, { permissions: 'everything' })).status, 422)
  assert.equal((await ben.patch(`/user/repository_invitations/${first.id}`)).status, 204)
  assert.partialDeepStrictEqual((await ben.read('/repos/ada/secret')).permissions, { pull: true, triage: false })
  assert.equal((await ben.delete(`/repos/ada/secret/invitations/${second.id}`)).status, 403)
  assert.equal((await ada.delete(`/repos/ada/secret/invitations/${second.id}`)).status, 204)
  assert.equal((await ada.delete(`/repos/ada/secret/invitations/${second.id}`)).status, 404)
  assert.equal((await cy.patch(`/user/repository_invitations/${second.id}`)).status, 404)
  await ada.owns('other')
  const third = await invite('cy')
  assert.equal((await ada.delete(`/repos/ada/other/invitations/${third.id}`)).status, 404, 'of another repository')
}))

test('a second invitation replaces the first', inject(async ({ invite, clock, ben }) => {
  const first = await invite('ben', 'pull')
  clock.advance(6 * day)
  const second = await invite('ben', 'maintain')
  assert.equal(second.id, first.id)
  clock.advance(6 * day)
  assert.partialDeepStrictEqual(await ben.read('/user/repository_invitations'), [{ permissions: 'maintain' }])
}))

test('a change of a collaborator’s access takes effect at once', inject(async ({ ada, ben, invite }) => {
  const { id } = await invite('ben')
  assert.equal((await ben.patch(`/user/repository_invitations/${id}`)).status, 204)
  const path = '/repos/ada/secret/collaborators/ben'
  for (const [permission, role, older] of [
    ['pull', 'read', 'read'],
    ['triage', 'triage', 'read'],
    ['write', 'write', 'write'],
    ['maintain', 'maintain', 'write'],
    ['admin', 'admin', 'admin'],
  ] as const) {
    const answer = await ada.put(path, { permission })
    assert.equal(answer.status, 204)
    assert.equal(await answer.text(), '')
    const level = await ada.read(`${path}/permission`)
    assert.partialDeepStrictEqual(level, { permission: older, role_name: role, user: { login: 'ben' } })
  }
  assert.equal((await ben.put('/repos/ada/secret/collaborators/cy')).status, 201, 'an admin invites')
  assert.equal((await ada.put(path, { permission: 'king' })).status, 422)
}))

test('access ends when a collaborator is removed or leaves', inject(async ({ ada, ben, cy, invite }) => {
  for (const person of [ben, cy]) {
    const { id } = await invite(person.login, 'pull')
    assert.equal((await person.patch(`/user/repository_invitations/${id}`)).status, 204)
  }
  assert.equal((await ben.delete('/repos/ada/secret/collaborators/cy')).status, 403)
  assert.equal((await ben.get('/repos/ada/secret/collaborators')).status, 403)
  assert.equal((await ben.delete('/repos/ada/secret/collaborators/ben')).status, 204)
  assert.equal((await ben.get('/repos/ada/secret')).status, 404)
  assert.equal((await ada.get('/repos/ada/secret/collaborators/cy')).status, 204)
  assert.equal((await ada.delete('/repos/ada/secret/collaborators/cy')).status, 204)
  assert.equal((await ada.delete('/repos/ada/secret/collaborators/cy')).status, 204)
  assert.equal((await ada.get('/repos/ada/secret/collaborators/cy')).status, 404)
  assert.equal((await cy.get('/repos/ada/secret')).status, 404)
}))

test('neither the owner nor an organization can be a collaborator', inject(async (forge) => {
  await forge.organization('acme', forge.ada)
  for (const login of ['ada', 'acme']) {
    assert.equal((await forge.ada.put(`/repos/ada/secret/collaborators/${login}`)).status, 422)
  }
  assert.equal((await forge.ada.put('/repos/ada/secret/collaborators/nobody-here')).status, 404)
}))

test('a member of the organization becomes a collaborator without an invitation', inject(async ({ forge, ada, ben, cy }) => {
  await forge.organization('acme', ada)
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'plans', private: true }))
  const early = await expect(201, await ada.put('/repos/acme/plans/collaborators/ben', { permission: 'admin' }))
  await expect(200, await ada.put('/orgs/acme/memberships/ben'))
  assert.equal((await ada.put('/repos/acme/plans/collaborators/ben', { permission: 'push' })).status, 204)
  assert.equal((await ben.patch(`/user/repository_invitations/${early.id}`)).status, 404, 'the older offer is gone')
  assert.partialDeepStrictEqual((await ben.read('/repos/acme/plans')).permissions, { push: true, admin: false })
  await expect(201, await ada.put('/repos/acme/plans/collaborators/cy'))
  assert.equal((await cy.get('/repos/acme/plans')).status, 404)
}))

test('the list and the check of collaborators agree', inject(async ({ ada, cy, organization }) => {
  await organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/ben'))
  for (const [name, everyones, expected] of [
    ['open', 'read', ['ada', 'ben']],
    ['plans', 'none', ['ada']],
    ['shown', 'none', ['ada']],
  ] as const) {
    await expect(200, await ada.patch('/orgs/acme', { default_repository_permission: everyones }))
    await expect(201, await ada.post('/orgs/acme/repos', { name, private: name === 'plans' }))
    assert.deepEqual(logins(await ada.read(`/repos/acme/${name}/collaborators`)), expected)
    for (const login of ['ada', 'ben', 'cy']) {
      const status = (expected as readonly string[]).includes(login) ? 204 : 404
      assert.equal((await ada.get(`/repos/acme/${name}/collaborators/${login}`)).status, status, `${login} of ${name}`)
    }
  }
  const list = await ada.read('/repos/acme/open/collaborators?permission=admin')
  assert.partialDeepStrictEqual(list, [{ login: 'ada', role_name: 'admin', permissions: { admin: true, pull: true } }])
  assert.equal((await cy.get('/repos/acme/open/collaborators')).status, 403)
}))

test('a public client invites, accepts and reads the permission', inject(async (forge) => {
  const baseUrl = `${forge.web}/api/v3`
  const [ada, ben] = [forge.ada, forge.ben].map(({ token }) => new Octokit({ auth: token, baseUrl }).rest)
  assert.ok(ada && ben)
  const place = { owner: 'ada', repo: 'secret' }
  assert.equal((await ada.repos.addCollaborator({ ...place, username: 'ben', permission: 'maintain' })).status, 201)
  const { data: invitations } = await ben.repos.listInvitationsForAuthenticatedUser()
  assert.equal(invitations[0]?.repository.full_name, 'ada/secret')
  await ben.repos.acceptInvitationForAuthenticatedUser({ invitation_id: invitations[0]?.id ?? 0 })
  const { data: level } = await ada.repos.getCollaboratorPermissionLevel({ ...place, username: 'ben' })
  assert.equal(level.role_name, 'maintain')
  assert.equal((await ada.repos.checkCollaborator({ ...place, username: 'ben' })).status, 204)
}))

test('hooks learn which collaborators a transfer or a deleted account removes', inject(async (forge) => {
  const { ada, ben, cy, admin } = forge
  for (const person of [ben, cy]) await join(ada, person, 'push', '/repos/ada/secret')
  await hookOn(ada, 'repos/ada/secret', 'member')
  const given = await heardOf(forge, () => handOver(ada, '/repos/ada/secret', ben))
  assert.deepEqual(linesOf(given, 'event', 'payload.action', 'payload.member.login', 'payload.sender.login'), [
    'member removed cy ben',
  ])
  assert.equal(given[0]?.payload.repository.full_name, 'ada/secret', 'where the hook is')
  for (const { event, payload } of given) checkPayload(event, payload)

  await ada.owns('engine')
  await ada.owns('quiet')
  for (const name of ['engine', 'quiet']) await join(ada, cy, 'push', `/repos/ada/${name}`)
  await hookOn(ada, 'repos/ada/engine', 'member')
  const deleted = await heardOf(forge, async () => expect(204, await admin.delete('/admin/users/cy')))
  assert.deepEqual(linesOf(deleted, 'payload.action', 'payload.member.login', 'payload.repository.name'), ['removed cy engine'])
  for (const { event, payload } of deleted) checkPayload(event, payload)
  assert.deepEqual(logins(await ada.read('/repos/ada/quiet/collaborators')), ['ada'])
}))
