import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Contract } from '#test/activity/schemas.ts'
import { expect, injecting, linesOf, openForge, pick } from '#test/forge.ts'
import { checkPayload } from '#test/webhook-schemas.ts'
import { heardOf, hookOn } from '#test/webhooks.ts'

/** An organization of Ada's with a member Ben and a team; Cy is outside. */
const open = injecting(async () => {
  const forge = await openForge()
  const [ada, ben, cy] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cy')]
  await forge.organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/ben'))
  const team = await expect(201, await ada.post('/orgs/acme/teams', { name: 'Core' }))
  const { id: invitee_id } = await ada.read('/users/cy')
  const invite = (more: object = {}, status = 201) =>
    ada.post('/orgs/acme/invitations', { invitee_id, ...more }).then((answer) => expect(status, answer))
  return Object.assign(forge, { ada, ben, cy, team, invitee_id, invite })
})

const day = 86_400_000
const pending = '/orgs/acme/invitations'

test(
  'an invited user accepts, and joins the organization and its teams',
  open(async ({ forge, ada, cy, team, invite }) => {
    await hookOn(ada, 'orgs/acme', 'organization', 'membership')
    const heard = await heardOf(forge, () => invite({ role: 'admin', team_ids: [team.id] }))
    assert.deepEqual(linesOf(heard, 'payload.action', 'payload.invitation.login', 'payload.user.login'), ['member_invited cy cy'])
    checkPayload('organization', heard[0]?.payload)
    const [invitation] = await ada.read(pending)
    assert.partialDeepStrictEqual(invitation, {
      login: 'cy',
      email: null,
      role: 'admin',
      inviter: { login: 'ada' },
      team_count: 1,
    })
    const teams = await ada.read(`${pending}/${invitation.id}/teams`)
    assert.deepEqual(pick(teams, 'slug'), ['core'])
    assert.deepEqual(await ada.read(invitation.invitation_teams_url), teams)
    assert.deepEqual(await ada.read('/orgs/acme/teams/core/invitations'), [invitation])
    const contract = Contract.of('versioned')
    const check = (operation: string, status: number, body: unknown) =>
      assert.deepEqual(contract.check(operation, status, 'application/json', body), [], operation)
    check('orgs/list-pending-invitations', 200, [invitation])
    check('orgs/create-invitation', 201, invitation)
    check('orgs/list-invitation-teams', 200, teams)
    check('teams/list-pending-invitations-in-org', 200, [invitation])

    const own = '/user/memberships/orgs'
    assert.deepEqual(linesOf(await cy.read(own), 'state', 'role'), ['pending admin'])
    assert.equal((await cy.read(`${own}/acme`)).state, 'pending')
    assert.equal((await ada.read('/orgs/acme/memberships/cy')).state, 'pending')
    assert.equal((await cy.get('/orgs/acme/teams')).status, 404)
    assert.equal((await cy.patch(`${own}/acme`, { state: 'pending' })).status, 422)
    const accepted = await heardOf(forge, () => cy.patch(`${own}/acme`, { state: 'active' }))
    const lines = ['organization member_added', 'membership added']
    assert.deepEqual(linesOf(accepted, 'event', 'payload.action'), lines)
    const membership = await cy.read(`${own}/acme`)
    assert.deepEqual([membership.state, membership.role], ['active', 'admin'])
    check('orgs/update-membership-for-authenticated-user', 200, membership)
    assert.equal((await cy.patch(`${own}/acme`, { state: 'active' })).status, 404, 'once')
    assert.deepEqual(await cy.read(pending), [])
    assert.deepEqual(await cy.read(`${own}?state=pending`), [])
    assert.deepEqual(pick(await cy.read('/orgs/acme/teams/core/members'), 'login').toSorted(), ['ada', 'cy'])
  }),
)

test(
  'an invitation by address is for the user who has that address verified, and reveals no login',
  open(async ({ ada, cy, admin, invite, tokenFor }) => {
    await expect(201, await admin.post('/admin/users', { login: 'dan', email: 'dan@example.com' }))
    const dan = await tokenFor('dan', ['user', 'admin:org'])
    const made = await invite({ invitee_id: undefined, email: 'Dan@example.com' })
    assert.deepEqual([made.login, made.email, made.role], [null, 'Dan@example.com', 'direct_member'])
    assert.deepEqual(Contract.of('versioned').check('orgs/create-invitation', 201, 'application/json', made), [])
    assert.equal((await ada.get('/orgs/acme/memberships/dan')).status, 404)
    await expect(200, await cy.patch('/user', { email: 'dan@example.com' }))
    assert.equal((await cy.patch('/user/memberships/orgs/acme', { state: 'active' })).status, 404, 'not verified')
    await expect(200, await dan.patch('/user/memberships/orgs/acme', { state: 'active' }))
  }),
)

test(
  'invitations fail after seven days, and are cancelled and declined before',
  open(async ({ ada, ben, cy, clock, invite }) => {
    const first = await invite()
    assert.equal((await invite({}, 422)).errors[0].code, 'already_exists')
    await expect(204, await ada.delete(`${pending}/${first.id}`))
    assert.equal((await ada.delete(`${pending}/${first.id}`)).status, 404)
    assert.equal((await cy.patch('/user/memberships/orgs/acme', { state: 'active' })).status, 404)
    for (const person of [cy, ada]) {
      await invite()
      await expect(204, await person.delete('/orgs/acme/memberships/cy'))
      assert.deepEqual(await ada.read(pending), [])
    }
    await invite()
    assert.equal((await ben.delete('/orgs/acme/memberships/cy')).status, 403)
    clock.advance(7 * day)
    assert.deepEqual(await ada.read(pending), [])
    const failed = await ada.read('/orgs/acme/failed_invitations')
    assert.deepEqual(Contract.of('versioned').check('orgs/list-failed-invitations', 200, 'application/json', failed), [])
    assert.match(failed[0].failed_reason, /expired/)
    assert.equal((await cy.patch('/user/memberships/orgs/acme', { state: 'active' })).status, 404)
    await invite()
    assert.deepEqual(await ada.read('/orgs/acme/failed_invitations'), [])
    await expect(200, await ada.put('/orgs/acme/memberships/cy'))
    assert.deepEqual(await ada.read(pending), [], 'a member needs none')
  }),
)

test(
  'only owners see and create invitations, of users who are no members, in roles that exist',
  open(async ({ ada, ben, cy, team, invite, invitee_id, organization }) => {
    const { id } = await invite({ role: 'admin' })
    for (const [person, status] of [
      [ben, 403],
      [cy, 404],
    ] as const) {
      for (const path of [
        pending,
        `${pending}/${id}/teams`,
        '/orgs/acme/failed_invitations',
        '/orgs/acme/teams/core/invitations',
      ])
        assert.equal((await person.get(path)).status, status, path)
      assert.equal((await person.post(pending, { invitee_id })).status, status)
      assert.equal((await person.delete(`${pending}/${id}`)).status, status)
    }
    assert.equal((await ben.get('/orgs/acme/memberships/cy')).status, 404)
    for (const [query, count] of [
      ['role=admin', 1],
      ['role=direct_member', 0],
      ['role=billing_manager', 0],
      ['invitation_source=scim', 0],
    ] as const)
      assert.equal((await ada.read(`${pending}?${query}`)).length, count, query)
    await organization('other', ada)
    const elsewhere = await expect(201, await ada.post('/orgs/other/teams', { name: 'Else' }))
    const { id: member } = await ada.read('/users/ben')
    for (const body of [
      {},
      { invitee_id: 999_999 },
      { invitee_id: member },
      { invitee_id, email: 'cy@example.com' },
      { email: 'cy' },
      { email: 'a@b.example', role: 'billing_manager' },
      { email: 'a@b.example', role: 'king' },
      { email: 'a@b.example', team_ids: [team.id, elsewhere.id] },
    ])
      assert.equal((await ada.post(pending, body)).status, 422, JSON.stringify(body))
    assert.equal((await ada.get(`/orgs/other/invitations/${id}/teams`)).status, 404)
    assert.equal((await ada.delete(`/orgs/other/invitations/${id}`)).status, 404)
  }),
)
