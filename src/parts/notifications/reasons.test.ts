import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, type Person } from '#test/forge.ts'
import { shareGuild } from '#test/guild.ts'
import { inboxOf, octokitsOf, openIssue, told } from '#test/inbox.ts'

const forge = await shareGuild()
const { ada, ben, cy, dan } = forge

async function openTeam(name: string, privacy: 'closed' | 'secret', ...members: Person[]) {
  await expect(201, await ada.post('/orgs/guild/teams', { name, privacy }))
  for (const { login } of members) await expect(200, await ada.put(`/orgs/guild/teams/${name}/memberships/${login}`, {}))
}

test('assign: assignees of an issue, when it is opened and later', async () => {
  const place = await forge.place()
  const [{ rest }] = octokitsOf(forge, ada)
  const { data: issue } = await rest.issues.create({ ...place.repo, title: 'It rattles', assignees: ['ben'] })
  assert.deepEqual(await place.inbox(ben), ['It rattles: assign'])
  assert.deepEqual(await place.inbox(cy), [])
  await rest.issues.addAssignees({ ...place.repo, issue_number: issue.number, assignees: ['cy'] })
  assert.deepEqual(await place.inbox(cy), ['It rattles: assign'])
})

test('assign: also by an update of the issue, and only new assignees', async () => {
  const place = await forge.place()
  const number = await place.open(ada, { assignees: ['ben'] })
  await expect(205, await ben.patch(`/notifications/threads/${(await place.thread(ben)).id}`))
  await expect(200, await ada.patch(`${place.path}/issues/${number}`, { assignees: ['ben', 'cy'] }))
  assert.deepEqual(await place.inbox(cy), ['It rattles: assign'])
  assert.deepEqual(await place.inbox(ben), ['It rattles: assign, read'])
})

test('invitation: users who accepted an invitation, also to a private repository', async () => {
  const place = await forge.place({ private: true })
  const { id } = await expect(201, await ada.put(`${place.path}/collaborators/dan`, { permission: 'push' }))
  const { reason, subject } = await place.thread(dan)
  assert.deepEqual([reason, subject.title], ['subscribed', `Invitation to join guild/${place.repo.repo}`])
  assert.equal((await dan.get(`${place.path}/notifications`)).status, 404)
  await expect(204, await dan.patch(`/user/repository_invitations/${id}`))
  assert.deepEqual(await place.inbox(dan), [`${subject.title}: invitation`])
})

test('mention: users mentioned in an issue, a comment or a commit comment', async () => {
  const place = await forge.place({ auto_init: true })
  const number = await place.open(ada, { body: 'Is it you, @Ben?' })
  assert.deepEqual(await place.inbox(ben), ['It rattles: mention'])
  await place.say(ada, number, 'Or @cy')
  assert.deepEqual(await place.inbox(cy), ['It rattles: mention'])
  const { sha } = await ada.read(`${place.path}/commits/main`)
  await expect(201, await ada.post(`${place.path}/commits/${sha}/comments`, { body: 'Or @dan' }))
  assert.deepEqual(await place.inbox(dan), ['Initial commit: mention'])
})

test('mention: users without access to a private repository are not notified', async () => {
  const place = await forge.place({ private: true })
  await place.open(ada, { body: '@dan, @ben, @guild, @nobody-here' })
  assert.deepEqual(await place.inbox(ben), ['It rattles: mention'])
  const number = await place.open(ben, { title: 'Hidden' })
  await place.say(ada, number, '@dan')
  await place.inbox(ada)
  const { id } = await expect(201, await ada.put(`${place.path}/collaborators/dan`, { permission: 'pull' }))
  await expect(204, await dan.patch(`/user/repository_invitations/${id}`))
  // No notification appears when they get access later.
  assert.deepEqual(await place.inbox(dan), [`Invitation to join guild/${place.repo.repo}: invitation`])
})

test('state_change: users who closed or reopened the issue', async () => {
  const place = await forge.place()
  await expect(204, await ada.delete(`${place.path}/subscription`))
  const [closed, reopened] = [await place.open(cy, { title: 'Closed' }), await place.open(cy, { title: 'Reopened' })]
  await expect(200, await ada.patch(`${place.path}/issues/${closed}`, { state: 'closed' }))
  await expect(200, await cy.patch(`${place.path}/issues/${reopened}`, { state: 'closed' }))
  await expect(200, await ada.patch(`${place.path}/issues/${reopened}`, { state: 'open' }))
  assert.deepEqual(await place.inbox(ada), [])
  await place.say(cy, closed)
  await place.say(cy, reopened)
  assert.deepEqual((await place.inbox(ada)).toSorted(), ['Closed: state_change', 'Reopened: state_change'])
})

test('state_change: participants are notified, each with their own reason', async () => {
  const place = await forge.place()
  const number = await place.open(ben)
  await place.say(dan, number)
  await place.inbox(ben)
  for (const { id } of await ben.read('/notifications')) await ben.patch(`/notifications/threads/${id}`)
  for (const state of ['closed', 'open']) {
    await expect(200, await ada.patch(`${place.path}/issues/${number}`, { state }))
    assert.deepEqual(await place.inbox(ben, ''), ['It rattles: author'])
    assert.deepEqual(await place.inbox(dan), ['It rattles: comment'])
    await ben.patch(`/notifications/threads/${(await place.thread(ben)).id}`)
  }
  // A change to the same state notifies nobody.
  await expect(200, await ada.patch(`${place.path}/issues/${number}`, { state: 'open' }))
  assert.deepEqual(await place.inbox(ben, ''), [])
})

test('subscribed: watchers of the repository are notified of everything', async () => {
  const place = await forge.place()
  await place.watch(dan)
  const number = await place.open(ben)
  assert.deepEqual(await place.inbox(dan), ['It rattles: subscribed'])
  await dan.patch(`/notifications/threads/${(await place.thread(dan)).id}`)
  await place.say(ben, number)
  assert.deepEqual(await place.inbox(dan, ''), ['It rattles: subscribed'])
  assert.deepEqual(await place.inbox(cy), [])
})

test('team_mention: the members of a mentioned team of the organization', async () => {
  const place = await forge.place()
  await openTeam('millers', 'closed', ben, cy)
  const number = await place.open(ben, { body: 'Ask the @guild/millers' })
  assert.deepEqual(await place.inbox(cy), ['It rattles: team_mention'])
  assert.deepEqual(await place.inbox(ben), [])
  await place.say(ada, number)
  assert.deepEqual(await place.inbox(ben), ['It rattles: author'])
})

test('team_mention: users outside the organization cannot mention its teams', async () => {
  const place = await forge.place()
  await openTeam('open-team', 'closed', cy)
  await place.open(dan, { body: '@guild/open-team' })
  assert.deepEqual(await place.inbox(cy), [])
})

test('team_mention: only members and owners can mention a secret team', async () => {
  const place = await forge.place()
  await openTeam('wardens', 'secret', cy)
  await place.open(ben, { title: 'By a member of the guild', body: '@guild/wardens' })
  assert.deepEqual(await place.inbox(cy), [])
  await place.open(ada, { title: 'By an owner', body: '@guild/wardens' })
  assert.deepEqual(await place.inbox(cy), ['By an owner: team_mention'])
  await expect(200, await ada.put('/orgs/guild/teams/wardens/memberships/ben', {}))
  await place.open(ben, { title: 'By one of them', body: '@guild/wardens' })
  assert.deepEqual((await place.inbox(cy)).toSorted(), ['By an owner: team_mention', 'By one of them: team_mention'])
})

test('team_mention: a team of another organization is not notified', async () => {
  const place = await forge.place()
  await forge.organization('league', ada)
  await expect(200, await ada.put('/orgs/league/memberships/cy', {}))
  await expect(201, await ada.post('/orgs/league/teams', { name: 'scouts' }))
  await expect(200, await ada.put('/orgs/league/teams/scouts/memberships/cy', {}))
  await place.open(ada, { body: '@league/scouts' })
  assert.deepEqual(await place.inbox(cy), [])
})

test('team_mention: members without access are not notified', async () => {
  await forge.organization('quarry', ada)
  await expect(200, await ada.patch('/orgs/quarry', { default_repository_permission: 'none' }))
  await expect(201, await ada.post('/orgs/quarry/repos', { name: 'pit', private: true }))
  for (const [team, { login }] of [['diggers', ben] as const, ['carriers', cy] as const]) {
    await expect(200, await ada.put(`/orgs/quarry/memberships/${login}`, {}))
    await expect(201, await ada.post('/orgs/quarry/teams', { name: team }))
    await expect(200, await ada.put(`/orgs/quarry/teams/${team}/memberships/${login}`, {}))
  }
  await expect(204, await ada.put('/orgs/quarry/teams/diggers/repos/quarry/pit', { permission: 'pull' }))
  await openIssue(ada, '/repos/quarry/pit', { title: 'A stone', body: '@quarry/diggers and @quarry/carriers' })
  await told(forge)
  assert.deepEqual(await inboxOf(ben, '', '/repos/quarry/pit'), ['A stone: team_mention'])
  assert.ok(!(await inboxOf(cy, '?per_page=100')).includes('A stone: team_mention'))
  const { rows } = await forge.belfry.db.pool.query(`select from threads t join accounts a on a.id = t.user_id
    join repositories r on r.id = t.repo_id where r.name = 'pit' and a.login = 'cy'`)
  assert.equal(rows.length, 0)
})
