import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asApp, registerApp } from '#test/apps.ts'
import { expect, type Forge, injecting, withPeople } from '#test/forge.ts'
import { checkPayload } from '#test/webhook-schemas.ts'
import { type Heard, heardOf, hookOn } from '#test/webhooks.ts'

const events = ['organization', 'membership', 'team', 'team_add', 'member']
const team = '/orgs/acme/teams/core'

/** Ada's organization with two repositories; Ben is a member. */
const open = injecting(async () => {
  const forge = await withPeople('ada', 'ben', 'cy')()
  const { ada } = forge
  await forge.organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/ben'))
  const [engine, plans] = [
    await expect(201, await ada.post('/orgs/acme/repos', { name: 'engine' })),
    await expect(201, await ada.post('/orgs/acme/repos', { name: 'plans', private: true })),
  ]
  return Object.assign(forge, { engine, plans })
})

/** The deliveries of an act. Every payload matches the public schemas. */
async function told(forge: Forge, status: number, act: () => Promise<Response>): Promise<Heard[]> {
  const all = await heardOf(forge, async () => expect(status, await act()))
  for (const { event, payload } of all) checkPayload(event, payload)
  return all
}

const lines = (all: Heard[]) =>
  all.map(({ event, payload: { action, membership, member, team, repository } }) =>
    [event, action, membership?.user.login, member?.login, team?.slug, repository?.name].filter(Boolean).join(' '),
  )

test(
  'changes of an organization and its teams are delivered once, and nothing is delivered when nothing changes',
  open(async ({ forge, ada, admin }) => {
    await hookOn(ada, 'orgs/acme', ...events)
    const heard = async (status: number, act: () => Promise<Response>) => lines(await told(forge, status, act))
    const add = () => ada.put('/orgs/acme/memberships/cy', { role: 'admin' })
    const [added] = await told(forge, 200, add)
    assert.partialDeepStrictEqual(added?.payload, {
      action: 'member_added',
      membership: { role: 'admin', state: 'active', user: { login: 'cy' } },
      organization: { login: 'acme' },
      sender: { login: 'ada' },
    })
    assert.equal(added?.payload.repository, undefined)
    assert.deepEqual(await heard(200, add), [])
    assert.deepEqual(await heard(200, () => ada.put('/orgs/acme/memberships/cy', { role: 'member' })), [], 'only the role')

    const contents = { name: 'Core', privacy: 'closed', maintainers: ['ada', 'ben'], repo_names: ['acme/engine', 'acme/plans'] }
    assert.deepEqual((await heard(201, () => ada.post('/orgs/acme/teams', contents))).toSorted(), [
      'membership added ada core',
      'membership added ben core',
      'team added_to_repository core engine',
      'team added_to_repository core plans',
      'team created core',
      'team_add core engine',
      'team_add core plans',
    ])
    const [edited] = await told(forge, 200, () => ada.patch(team, { description: 'Of brass', privacy: 'secret', name: 'Core' }))
    assert.deepEqual(edited?.payload.changes, { description: { from: '' }, privacy: { from: 'closed' } })
    assert.deepEqual(await heard(200, () => ada.patch(team, { description: 'Of brass' })), [])
    const [stronger] = await told(forge, 204, () => ada.put(`${team}/repos/acme/engine`, { permission: 'admin' }))
    assert.partialDeepStrictEqual(stronger?.payload, {
      action: 'edited',
      changes: { repository: { permissions: { from: { admin: false, pull: true, push: false } } } },
      repository: { name: 'engine' },
      team: { permission: 'admin' },
    })
    assert.deepEqual(await heard(204, () => ada.put(`${team}/repos/acme/engine`, { permission: 'admin' })), [])
    assert.deepEqual(await heard(204, () => ada.delete(`${team}/repos/acme/engine`)), [
      'team removed_from_repository core engine',
    ])
    assert.deepEqual(await heard(204, () => ada.delete(`${team}/repos/acme/engine`)), [])
    assert.deepEqual(await heard(204, () => ada.put(`${team}/members/cy`)), ['membership added cy core'])
    assert.deepEqual(await heard(200, () => ada.put(`${team}/memberships/cy`, { role: 'maintainer' })), [])
    assert.deepEqual(await heard(204, () => ada.delete(`${team}/members/cy`)), ['membership removed cy core'])
    assert.deepEqual(await heard(202, () => ada.post('/repos/acme/plans/transfer', { new_owner: 'ada' })), [
      'team removed_from_repository core plans',
    ])
    assert.deepEqual(await heard(204, () => ada.delete('/orgs/acme/memberships/ben')), [
      'membership removed ben core',
      'organization member_removed ben',
    ])
    await heard(204, () => ada.put(`${team}/members/cy`))
    assert.deepEqual(await heard(204, () => admin.delete('/admin/users/cy')), [
      'membership removed cy core',
      'organization member_removed cy',
    ])
    const deleted = await heardOf(forge, async () => {
      const answers = await Promise.all([ada.delete(team), ada.delete(team)])
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [204, 404])
    })
    assert.deepEqual(lines(deleted), ['team deleted core'])
    assert.deepEqual(await heard(202, () => admin.patch('/admin/organizations/acme', { login: 'acme' })), [])
    const [renamed] = await told(forge, 202, () => admin.patch('/admin/organizations/acme', { login: 'works' }))
    assert.partialDeepStrictEqual(renamed?.payload, {
      changes: { login: { from: 'acme' } },
      organization: { login: 'works' },
      sender: { login: 'admin' },
    })
  }),
)

test(
  'hooks of a repository get team_add only, and not of secret teams',
  open(async ({ forge, ada }) => {
    await hookOn(ada, 'repos/acme/engine', '*')
    for (const event of ['organization', 'membership', 'team']) {
      const wanted = { config: { url: 'belfry:listen' }, events: [event] }
      assert.equal((await ada.post('/repos/acme/engine/hooks', wanted)).status, 422, event)
    }
    const heard = async (status: number, act: () => Promise<Response>) => lines(await told(forge, status, act))
    assert.deepEqual(await heard(201, () => ada.post('/orgs/acme/teams', { name: 'Core', privacy: 'closed' })), [])
    assert.deepEqual(await heard(204, () => ada.put(`${team}/repos/acme/plans`)), [])
    assert.deepEqual(await heard(204, () => ada.put(`${team}/repos/acme/engine`)), ['team_add core engine'])
    assert.deepEqual(await heard(204, () => ada.delete(`${team}/repos/acme/engine`)), [])
    await expect(200, await ada.patch(team, { privacy: 'secret' }))
    assert.deepEqual(await heard(204, () => ada.put(`${team}/repos/acme/engine`)), [])
    await expect(204, await ada.put('/repos/acme/engine/collaborators/ben'))
    assert.deepEqual(await heard(204, () => ada.delete('/orgs/acme/members/ben')), ['member removed ben engine'])
  }),
)

test(
  'an installed app gets the events of the organization, and nothing about repositories that it is not installed on',
  open(async ({ forge, ada, engine }) => {
    const app = await registerApp(ada, {
      hook_attributes: { url: 'belfry:listen' },
      default_permissions: { members: 'read' },
      default_events: events,
      public: true,
    })
    const body = { app_slug: app.slug, repository_ids: [engine.id] }
    const installation = await expect(201, await ada.post('/orgs/acme/installations', body))
    const heard = async (status: number, act: () => Promise<Response>) => {
      const all = await told(forge, status, act)
      assert.ok(all.every(({ payload }) => payload.installation.id === installation.id))
      return lines(all)
    }
    assert.deepEqual(await heard(201, () => ada.post('/orgs/acme/teams', { name: 'Core', privacy: 'closed' })), [
      'team created core',
      'membership added ada core',
    ])
    assert.deepEqual(await heard(204, () => ada.put(`${team}/repos/acme/engine`)), [
      'team added_to_repository core engine',
      'team_add core engine',
    ])
    assert.deepEqual(await heard(204, () => ada.put(`${team}/repos/acme/plans`)), [])
    for (const name of ['engine', 'plans']) await expect(204, await ada.put(`/repos/acme/${name}/collaborators/ben`))
    assert.deepEqual(await heard(204, () => ada.delete('/orgs/acme/members/ben')), [
      'member removed ben engine',
      'organization member_removed ben',
    ])
    await expect(204, await asApp(forge, app).put(`/app/installations/${installation.id}/suspended`))
    assert.deepEqual(await heard(200, () => ada.put('/orgs/acme/memberships/ben')), [])
  }),
)
