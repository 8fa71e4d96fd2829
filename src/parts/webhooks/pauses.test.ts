import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect, openForge } from '#test/forge.ts'
import { told } from '#test/inbox.ts'
import { heardOf, hookOn, openReceiver } from '#test/webhooks.ts'

const forge = await openForge({ worker: true })
after(() => forge[Symbol.asyncDispose]())
const [ada, ben, cy] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cy')]
await forge.organization('acme', ada)

let made = 0

/** A private repository of Ada's organization. Members have no access. */
async function openRepository() {
  const name = `engine-${++made}`
  await expect(200, await ada.patch('/orgs/acme', { default_repository_permission: 'none' }))
  const { id } = await expect(201, await ada.post('/orgs/acme/repos', { name, private: true }))
  return { id: id as number, name, path: `/repos/acme/${name}` }
}
type Repo = Awaited<ReturnType<typeof openRepository>>

const member = async (role: string) => expect(200, await ada.put('/orgs/acme/memberships/ben', { role }))
const team = async ({ path, name }: Repo) => {
  await member('member')
  await expect(201, await ada.post('/orgs/acme/teams', { name }))
  await expect(200, await ada.put(`/orgs/acme/teams/${name}/memberships/ben`))
  await expect(204, await ada.put(`/orgs/acme/teams/${name}${path}`, { permission: 'admin' }))
}
const collaborate = async ({ path }: Repo) => {
  const { id } = await expect(201, await ada.put(`${path}/collaborators/ben`, { permission: 'admin' }))
  await expect(204, await ben.patch(`/user/repository_invitations/${id}`))
}

/** How Ben gets admin access to a repository, and how he loses it. */
const ways: Record<string, [begin: (repo: Repo) => Promise<unknown>, end: (repo: Repo) => Promise<unknown>]> = {
  'is removed as a collaborator': [collaborate, async ({ path }) => expect(204, await ada.delete(`${path}/collaborators/ben`))],
  leaves: [collaborate, async ({ path }) => expect(204, await ben.delete(`${path}/collaborators/ben`))],
  'may only maintain': [
    collaborate,
    async ({ path }) => expect(204, await ada.put(`${path}/collaborators/ben`, { permission: 'maintain' })),
  ],
  'is suspended': [collaborate, async () => expect(204, await forge.admin.put('/users/ben/suspended'))],
  'is no longer an owner': [() => member('admin'), () => member('member')],
  'leaves the organization': [() => member('admin'), async () => expect(204, await ada.delete('/orgs/acme/memberships/ben'))],
  'leaves the team': [team, async ({ name }) => expect(204, await ada.delete(`/orgs/acme/teams/${name}/memberships/ben`))],
  'is in a team that may only push': [
    team,
    async ({ name, path }) => expect(204, await ada.put(`/orgs/acme/teams/${name}${path}`, { permission: 'push' })),
  ],
  'is in a team without access': [
    team,
    async ({ name, path }) => expect(204, await ada.delete(`/orgs/acme/teams/${name}${path}`)),
  ],
  'was in a team that is deleted': [team, async ({ name }) => expect(204, await ada.delete(`/orgs/acme/teams/${name}`))],
  'is not part of the new owner': [
    () => member('admin'),
    async ({ path }) => expect(202, await ada.post(`${path}/transfer`, { new_owner: 'ada' })),
  ],
}

for (const [how, [begin, end]] of Object.entries(ways)) {
  test(`a hook is paused when its maker ${how}, and its owners are notified`, async () => {
    const repo = await openRepository()
    await begin(repo)
    const hook = await hookOn(ben, `repos/acme/${repo.name}`, 'issues')
    const kept = await hookOn(ada, `repos/acme/${repo.name}`, 'issues')
    await end(repo)
    const shown = await ada.read(`/repositories/${repo.id}/hooks/${hook.id}`)
    const paused_reason = how === 'is suspended' ? 'maker_suspended' : 'maker_lost_access'
    assert.partialDeepStrictEqual(shown, { active: false, paused_reason })
    assert.equal((await ada.read(`/repositories/${repo.id}/hooks/${kept.id}`)).active, true)
    const heard = await heardOf(forge, async () =>
      expect(201, await ada.post(`/repositories/${repo.id}/issues`, { title: 'It rattles' })),
    )
    assert.equal(heard.length, 1)
    const waiting = await forge.belfry.db.rows(
      sql`select from pending_deliveries where hook_id = ${hook.id} and event = 'issues'`,
    )
    assert.equal(waiting.length, 0)
    await told(forge)
    const threads: { subject: Record<string, string>; reason: string; repository: { id: number } }[] =
      await ada.read('/notifications')
    const thread = threads.find(({ subject, repository }) => subject.type === 'Webhook' && repository.id === repo.id)
    assert.equal(thread?.subject.title, 'Webhook to belfry:listen is paused')
    assert.equal((await ada.read(thread?.subject.url ?? '')).id, hook.id)
    await expect(204, await forge.admin.delete('/users/ben/suspended'))
    await ada.delete('/orgs/acme/memberships/ben')
  })
}

test('the user who resumes a hook becomes its maker, and the notification disappears', async () => {
  const repo = await openRepository()
  await collaborate(repo)
  const hook = await hookOn(ben, `repos/acme/${repo.name}`, 'issues')
  const path = `${repo.path}/hooks/${hook.id}`
  await expect(204, await ada.delete(`${repo.path}/collaborators/ben`))
  await told(forge)
  const paused = await ada.read(path)
  assert.equal(paused.paused_at, '2026-02-03T04:05:06Z')
  const refused = await expect(422, await ada.post(`${path}/replays`, { since: '2026-02-03T00:00:00Z' }))
  assert.match(JSON.stringify(refused), /paused/)
  const resumed = await expect(200, await ada.patch(path, { active: true }))
  assert.equal(resumed.active, true)
  assert.equal('paused_reason' in resumed, false)
  const types = async () =>
    (await ada.read('/notifications')).filter(({ repository }: { repository: { id: number } }) => repository.id === repo.id)
  assert.deepEqual(await types(), [])
  await collaborate(repo)
  await expect(204, await ada.delete(`${repo.path}/collaborators/ben`))
  assert.equal((await ada.read(path)).active, true)
})

test('the user who changes the url of a hook becomes its maker', async () => {
  const repo = await openRepository()
  await collaborate(repo)
  const [one, other] = [
    await hookOn(ada, `repos/acme/${repo.name}`, 'push'),
    await hookOn(ada, `repos/acme/${repo.name}`, 'push'),
  ]
  await using receiver = await openReceiver()
  const config = { url: receiver.url }
  await expect(200, await ben.patch(`${repo.path}/hooks/${one.id}`, { config }))
  await expect(200, await ben.patch(`${repo.path}/hooks/${other.id}`, { events: ['issues'] }))
  await expect(204, await ada.delete(`${repo.path}/collaborators/ben`))
  assert.equal((await ada.read(`${repo.path}/hooks/${one.id}`)).paused_reason, 'maker_lost_access')
  assert.equal((await ada.read(`${repo.path}/hooks/${other.id}`)).active, true)
})

test('a hook of an organization is paused when its maker is no longer an owner, and only owners are notified', async () => {
  const repo = await openRepository()
  await member('admin')
  await expect(200, await ada.put('/orgs/acme/memberships/cy', { role: 'member' }))
  await expect(204, await ada.put(`${repo.path}/collaborators/cy`, { permission: 'admin' }))
  const hook = await hookOn(ben, 'orgs/acme', 'push')
  await member('member')
  assert.partialDeepStrictEqual(await ada.read(`/orgs/acme/hooks/${hook.id}`), {
    active: false,
    paused_reason: 'maker_lost_access',
  })
  await told(forge)
  const url = `${forge.web}/api/v3/orgs/acme/hooks/${hook.id}`
  const addresses = async (person: typeof ada): Promise<string[]> =>
    (await person.read('/notifications')).map(({ subject }: { subject: { url: string } }) => subject.url)
  assert.ok((await addresses(ada)).includes(url))
  for (const person of [ben, cy]) assert.equal((await addresses(person)).includes(url), false)
  assert.equal((await ada.get(url)).status, 200)
  await ada.delete('/orgs/acme/memberships/ben')
})

test('a user who loses access at the same time cannot create a hook', async () => {
  const repo = await openRepository()
  for (let round = 0; round < 5; round++) {
    await collaborate(repo)
    await Promise.all([
      ada.delete(`${repo.path}/collaborators/ben`),
      ...Array.from({ length: 3 }, () => ben.post(`${repo.path}/hooks`, { config: { url: 'belfry:listen' } })),
    ])
    const hooks: { active: boolean }[] = await ada.read(`${repo.path}/hooks`)
    assert.deepEqual(
      hooks.filter(({ active }) => active),
      [],
    )
  }
})
