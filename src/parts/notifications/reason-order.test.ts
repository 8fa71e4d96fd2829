import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect, type Person, pick } from '#test/forge.ts'
import { shareGuild } from '#test/guild.ts'

const forge = await shareGuild()
const { ada, ben, cy, dan } = forge
await expect(201, await ada.post('/orgs/guild/teams', { name: 'millers' }))
await expect(200, await ada.put('/orgs/guild/teams/millers/memberships/ben', {}))

test('a mention replaces the former reason and stays after further comments', async () => {
  const place = await forge.place()
  const number = await place.open(ben)
  await place.say(ada, number)
  assert.deepEqual(await place.inbox(ben), ['It rattles: author'])
  await place.say(ada, number, '@ben?')
  assert.deepEqual(await place.inbox(ben), ['It rattles: mention'])
  await place.say(ada, number)
  await place.say(ben, number)
  await place.say(cy, number)
  assert.deepEqual(await place.inbox(ben), ['It rattles: mention'])
})

test('a later reason replaces an earlier stronger one and stays', async () => {
  const place = await forge.place()
  const number = await place.open(ada, { body: '@ben' })
  assert.deepEqual(await place.inbox(ben), ['It rattles: mention'])
  await expect(201, await ada.post(`${place.path}/issues/${number}/assignees`, { assignees: ['ben'] }))
  assert.deepEqual(await place.inbox(ben), ['It rattles: assign'])
  await place.say(cy, number)
  assert.deepEqual(await place.inbox(ben), ['It rattles: assign'])
})

test('watching does not replace another reason', async () => {
  const place = await forge.place()
  await place.watch(ben)
  const number = await place.open(ada, { body: '@ben' })
  const { id } = await place.thread(ben)
  await expect(204, await ben.delete(`/notifications/threads/${id}/subscription`))
  await expect(205, await ben.patch(`/notifications/threads/${id}`))
  await place.say(ada, number)
  assert.deepEqual(await place.inbox(ben), ['It rattles: mention'])
  const [newest] = await ben.read(`/notifications/threads/${id}/reasons`)
  assert.equal(newest.reason, 'subscribed')
})

const both: [order: string, fields: Record<string, unknown>][] = [
  ['mention before assign', { body: '@ben', assignees: ['ben'] }],
  ['mention before team_mention', { body: '@guild/millers and @ben' }],
  ['assign before team_mention', { body: '@guild/millers', assignees: ['ben'] }],
]
for (const [order, fields] of both) {
  test(`${order}, when an issue is opened or changed`, async () => {
    const place = await forge.place()
    await place.open(ada, { title: 'Opened', ...fields })
    const number = await place.open(ada, { title: 'Changed' })
    await expect(200, await ada.patch(`${place.path}/issues/${number}`, { ...fields, state: 'closed' }))
    const [reason] = order.split(' ')
    assert.deepEqual((await place.inbox(ben)).toSorted(), [`Changed: ${reason}`, `Opened: ${reason}`])
  })
}

test('team_mention before author', async () => {
  const place = await forge.place()
  await place.say(ada, await place.open(ben), '@guild/millers')
  assert.deepEqual(await place.inbox(ben), ['It rattles: team_mention'])
})

test('author before state_change', async () => {
  const place = await forge.place()
  const number = await place.open(ben)
  await expect(200, await ben.patch(`${place.path}/issues/${number}`, { state: 'closed' }))
  await place.say(ada, number)
  assert.deepEqual(await place.inbox(ben), ['It rattles: author'])
})

test('state_change before comment, whichever was first', async () => {
  const place = await forge.place()
  const [first, second] = [await place.open(ben, { title: 'First' }), await place.open(ben, { title: 'Second' })]
  await place.say(ada, first)
  await expect(200, await ada.patch(`${place.path}/issues/${first}`, { state: 'closed' }))
  await expect(200, await ada.patch(`${place.path}/issues/${second}`, { state: 'closed' }))
  await place.say(ada, second)
  for (const number of [first, second]) await place.say(ben, number)
  assert.deepEqual((await place.inbox(ada)).toSorted(), ['First: state_change', 'Second: state_change'])
})

test('comment before manual', async () => {
  const place = await forge.place()
  const number = await place.open(ben)
  await expect(200, await ada.put(`/notifications/threads/${(await place.thread(ada)).id}/subscription`, {}))
  await place.say(ada, number)
  await place.say(ben, number)
  assert.deepEqual(await place.inbox(ada), ['It rattles: comment'])
})

test('manual before subscribed', async () => {
  const place = await forge.place()
  const number = await place.open(ben)
  await expect(200, await ada.put(`/notifications/threads/${(await place.thread(ada)).id}/subscription`, {}))
  await place.say(ben, number)
  assert.deepEqual(await place.inbox(ada), ['It rattles: manual'])
})

test('a user with several reasons is notified once', async () => {
  const place = await forge.place()
  await place.watch(ben)
  const number = await place.open(ben)
  await place.say(ada, number, '@ben, @guild/millers, and @Ben again')
  const { id } = await place.thread(ben)
  const history: { reason: string }[] = await ben.read(`/notifications/threads/${id}/reasons`)
  assert.deepEqual(pick(history, 'reason'), ['mention'])
})

test('users are not notified of their own acts', async () => {
  const place = await forge.place({ auto_init: true })
  const number = await place.open(ada, { body: '@ada @guild/millers', assignees: ['ada'] })
  await place.say(ada, number, 'I, @ada, am here')
  await expect(200, await ada.patch(`${place.path}/issues/${number}`, { state: 'closed', body: 'Oh @ada' }))
  await expect(201, await ada.post(`${place.path}/releases`, { tag_name: 'v1', body: '@ada' }))
  const { sha } = await ada.read(`${place.path}/commits/main`)
  await expect(201, await ada.post(`${place.path}/commits/${sha}/comments`, { body: '@ada' }))
  assert.deepEqual(await place.inbox(ada), [])
})

test('a user who assigns themselves is subscribed but not notified', async () => {
  const place = await forge.place()
  await expect(204, await ada.delete(`${place.path}/subscription`))
  const number = await place.open(ben)
  await expect(201, await ada.post(`${place.path}/issues/${number}/assignees`, { assignees: ['ada'] }))
  assert.deepEqual(await place.inbox(ada), [])
  await place.say(ben, number)
  assert.deepEqual(await place.inbox(ada), ['It rattles: assign'])
})

test('a new participant is not notified of earlier events, even if their fan-out is late', async () => {
  const place = await forge.place()
  await place.watch(ben)
  await forge.belfry.db.transaction(async (transaction) => {
    // The fan-out waits meanwhile.
    await transaction.query(sql`lock table threads in exclusive mode`)
    const number = await place.open(dan)
    for (const person of [ben, cy]) await place.say(person, number)
  })
  const told = async (person: Person) => {
    const { id } = await place.thread(person)
    const history: { act: string; reason: string; actor: { login: string } }[] = await person.read(
      `/notifications/threads/${id}/reasons`,
    )
    return history.map(({ act, reason, actor }) => `${actor.login} ${act}: ${reason}`)
  }
  assert.deepEqual(await told(dan), ['cy commented: author', 'ben commented: author'])
  // Ben watches the repository, so he is notified.
  assert.deepEqual(await told(ben), ['cy commented: comment', 'dan opened: subscribed'])
  assert.deepEqual(await place.inbox(cy), [])
})

test('labels, milestones, titles, locks, unassignments and deleted comments notify nobody', async () => {
  const place = await forge.place()
  const number = await place.open(ben, { body: 'Hm, @cy' })
  await expect(201, await ada.post(`${place.path}/issues/${number}/assignees`, { assignees: ['cy'] }))
  const said = await place.say(ada, number, 'Ah')
  const issue = `${place.path}/issues/${number}`
  for (const person of [ben, cy]) await person.patch(`/notifications/threads/${(await place.thread(person)).id}`)
  await expect(201, await ada.post(`${place.path}/milestones`, { title: 'Spring' }))
  await expect(200, await ada.post(`${issue}/labels`, { labels: ['noise'] }))
  await expect(200, await ada.patch(issue, { title: 'It rattled', milestone: 1, labels: [] }))
  await expect(204, await ada.put(`${issue}/lock`))
  await expect(204, await ada.delete(`${issue}/lock`))
  await expect(200, await ada.delete(`${issue}/assignees`, { assignees: ['cy'] }))
  await expect(204, await ada.delete(`${place.path}/issues/comments/${said}`))
  assert.deepEqual(await place.inbox(ben), ['It rattled: author, read'])
  assert.deepEqual(await place.inbox(cy), ['It rattled: assign, read'])
})

test('an edit notifies only users it mentions newly', async () => {
  const place = await forge.place()
  const number = await place.open(ada, { body: 'Ask @ben' })
  const said = await place.say(ada, number, 'Nobody')
  await expect(205, await ben.patch(`/notifications/threads/${(await place.thread(ben)).id}`))
  await expect(200, await ada.patch(`${place.path}/issues/${number}`, { body: 'Ask @cy, and not @ben' }))
  assert.deepEqual(await place.inbox(ben), ['It rattles: mention, read'])
  assert.deepEqual(await place.inbox(cy), ['It rattles: mention'])
  await expect(200, await ada.patch(`${place.path}/issues/comments/${said}`, { body: 'Or @dan' }))
  assert.deepEqual(await place.inbox(dan), ['It rattles: mention'])
  await expect(205, await dan.patch(`/notifications/threads/${(await place.thread(dan)).id}`))
  await expect(200, await ada.patch(`${place.path}/issues/comments/${said}`, { body: 'Or @dan, perhaps' }))
  assert.deepEqual(await place.inbox(dan), ['It rattles: mention, read'])
})

test('code, quotes, links and addresses mention nobody', async () => {
  const place = await forge.place()
  const number = await place.open(ada, { body: '`@ben`\n\n```\n@cy\n```\n\n    @dan' })
  await place.say(ada, number, '> @ben said so\n\nTo me@dan or [here](/x/@cy)')
  for (const person of [ben, cy, dan]) assert.deepEqual(await place.inbox(person), [])
})
