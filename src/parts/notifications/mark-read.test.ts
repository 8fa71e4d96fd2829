import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect } from '#test/forge.ts'
import { shareGuild } from '#test/guild.ts'
import { fillInbox, inboxOf, octokitsOf, told } from '#test/inbox.ts'

const forge = await shareGuild()
const { ada, ben, cy, dan, clock } = forge

/** A repository with an issue of cy's that ben is notified of. */
async function openWithNews() {
  const place = await forge.place()
  const number = await place.open(cy, { body: '@ben' })
  const thread = await place.thread(ben)
  return { ...place, number, thread, own: `/notifications/threads/${thread.id}`, news: () => place.inbox(ben, '') }
}

const background =
  "Unread notifications couldn't be marked in a single request. Notifications are being marked as read in the background."

test('octokit marks a thread as read: 205 with last_read_at', async () => {
  for (const [index, { rest }] of octokitsOf(forge, ben).entries()) {
    const { thread, news } = await openWithNews()
    // The spec types it as a string, the public documentation as a string or null.
    assert.deepEqual([thread.unread, thread.last_read_at], [true, '1970-01-01T00:00:00Z'])
    assert.equal((await rest.activity.getThread({ thread_id: Number(thread.id) })).data.last_read_at, null)
    clock.advance(61_000)
    const { status, data } = await rest.activity.markThreadAsRead({ thread_id: Number(thread.id) })
    assert.deepEqual([status, data || ''], [205, ''], `variant ${index}`)
    assert.deepEqual(await news(), [])
    const { data: after } = await rest.activity.getThread({ thread_id: Number(thread.id) })
    assert.equal(after.unread, false)
    assert.equal(after.last_read_at, `${clock.now().toISOString().slice(0, 19)}Z`)
    assert.equal(after.updated_at, thread.updated_at)
  }
})

test('a 205 has no body, and marking again changes nothing', async () => {
  const { own } = await openWithNews()
  const first = await ben.patch(own)
  assert.deepEqual([first.status, await first.text()], [205, ''])
  const { last_read_at } = await ben.read(own)
  clock.advance(60_000)
  await expect(205, await ben.patch(own, {}))
  assert.equal((await ben.read(own)).last_read_at, last_read_at)
})

test('an update after the mark is unread again and keeps last_read_at', async () => {
  const { own, say, number, news } = await openWithNews()
  await expect(205, await ben.patch(own))
  const { last_read_at } = await ben.read(own)
  clock.advance(60_000)
  await say(cy, number)
  assert.deepEqual(await news(), ['It rattles: mention'])
  assert.equal((await ben.read(own)).last_read_at, last_read_at)
})

test('octokit marks everything as read', async () => {
  for (const { rest } of octokitsOf(forge, ben)) {
    await openWithNews()
    await openWithNews()
    const { status, data } = await rest.activity.markNotificationsAsRead()
    assert.deepEqual([status as number, data || ''], [205, ''])
    assert.deepEqual(await inboxOf(ben), [])
    assert.ok((await inboxOf(ben, '?all=true')).length >= 2)
  }
})

test('no body, an empty body, an empty object and a null time all mark everything', async () => {
  for (const body of [undefined, '', '{}', '{"last_read_at":null}', '{"read":true}', '{"last_read_at":""}']) {
    const { news } = await openWithNews()
    const answer = await ben.put('/notifications', body)
    assert.deepEqual([answer.status, await answer.text()], [205, ''], String(body))
    assert.deepEqual(await news(), [], String(body))
  }
})

test('`read: false` marks nothing', async () => {
  const { news } = await openWithNews()
  await expect(205, await ben.put('/notifications', { read: false }))
  await expect(205, await ben.put('/notifications', { read: false, last_read_at: clock.now().toISOString() }))
  assert.deepEqual(await news(), ['It rattles: mention'])
})

test('more than a thousand are marked in the background', async () => {
  const place = await forge.place()
  await fillInbox(forge, dan, place, 1001)
  const answer = await dan.put('/notifications')
  assert.equal((await expect(202, answer)).message, background)
  await told(forge)
  assert.deepEqual(await place.inbox(dan, ''), [])
  assert.equal((await place.inbox(dan, '?all=true&per_page=100&page=11')).length, 1)
})

test('a thousand threads are marked at once', async () => {
  const place = await forge.place()
  await fillInbox(forge, dan, place, 1000)
  await expect(205, await dan.put('/notifications'))
  assert.deepEqual(await inboxOf(dan), [])
})

test('marking a repository affects only its threads and always responds 202', async () => {
  for (const { rest } of octokitsOf(forge, ben)) {
    const [here, there] = [await openWithNews(), await openWithNews()]
    const { status, data } = await rest.activity.markRepoNotificationsAsRead(here.repo)
    assert.deepEqual([status, data.message], [202, 'The notifications of this repository are marked as read.'])
    assert.deepEqual(await here.news(), [])
    assert.deepEqual(await there.news(), ['It rattles: mention'])
    await expect(202, await ben.put(`${here.path}/notifications`, {}))
  }
  assert.equal((await ben.put('/repos/guild/nowhere/notifications')).status, 404)
})

test('more than a thousand threads of a repository are marked in the background', async () => {
  const place = await forge.place()
  await fillInbox(forge, dan, place, 1500)
  assert.equal((await expect(202, await dan.put(`${place.path}/notifications`))).message, background)
  assert.deepEqual(await place.inbox(dan, ''), [])
})

for (const form of ['everything', 'a repository'] as const) {
  /** Marks as read up to a time, in this form. */
  const mark = ({ path }: { path: string }, last_read_at: string) =>
    form === 'everything' ? ben.put('/notifications', { last_read_at }) : ben.put(`${path}/notifications`, { last_read_at })

  test(`threads updated after the time stay unread: ${form}`, async () => {
    const place = await openWithNews()
    clock.advance(60_000)
    const moment = clock.now().toISOString()
    clock.advance(60_000)
    await place.open(cy, { title: 'Later', body: '@ben' })
    await told(forge)
    assert.ok((await mark(place, moment)).ok)
    assert.deepEqual(await place.inbox(ben), ['Later: mention', 'It rattles: mention, read'])
    const [, { last_read_at }] = await ben.read(`${place.path}/notifications?all=true`)
    assert.equal(last_read_at, `${moment.slice(0, 19)}Z`)
  })

  test(`the time that a thread shows marks that thread too: ${form}`, async () => {
    const place = await openWithNews()
    const [{ updated_at }] = await ben.read(`${place.path}/notifications`)
    assert.ok(Date.parse(updated_at) < clock.now().getTime())
    assert.ok((await mark(place, updated_at)).ok)
    assert.deepEqual(await place.news(), [])
  })

  test(`an update in the same second after the list was read stays unread: ${form}`, async () => {
    const place = await openWithNews()
    const [{ updated_at }] = await ben.read(`${place.path}/notifications`)
    await place.say(cy, place.number)
    await place.open(cy, { title: 'Unseen', body: '@ben' })
    await told(forge)
    assert.ok((await mark(place, updated_at)).ok)
    assert.deepEqual((await place.news()).toSorted(), ['It rattles: mention', 'Unseen: mention'])
  })

  test(`an update while later pages were read stays unread: ${form}`, async () => {
    const place = await openWithNews()
    await place.open(cy, { title: 'Another', body: '@ben' })
    await told(forge)
    const [{ updated_at }] = await ben.read(`${place.path}/notifications?per_page=1`)
    await place.say(cy, place.number)
    await told(forge)
    assert.equal((await ben.read(`${place.path}/notifications?per_page=1&page=2`)).length, 1)
    assert.ok((await mark(place, updated_at)).ok)
    assert.deepEqual(await place.news(), ['It rattles: mention'])
  })

  test(`the distant past marks nothing, and the future marks what exists: ${form}`, async () => {
    const place = await openWithNews()
    assert.ok((await mark(place, '0001-01-01T00:00:00Z')).ok)
    assert.deepEqual(await place.news(), ['It rattles: mention'])
    assert.ok((await mark(place, '9999-12-31T23:59:59Z')).ok)
    assert.deepEqual(await place.news(), [])
    assert.equal((await ben.read(place.own)).last_read_at, `${clock.now().toISOString().slice(0, 19)}Z`)
    await place.say(cy, place.number)
    assert.deepEqual(await place.news(), ['It rattles: mention'])
  })

  test(`an invalid time is refused and marks nothing: ${form}`, async () => {
    const place = await openWithNews()
    const path = form === 'everything' ? '/notifications' : `${place.path}/notifications`
    for (const last_read_at of ['yesterday', '2026-02-30', 5, true, [], {}]) {
      assert.equal((await ben.put(path, { last_read_at })).status, 422, JSON.stringify(last_read_at))
    }
    assert.equal((await ben.put(path, '{')).status, 400)
    assert.equal((await ben.put(path, [])).status, 400)
    assert.deepEqual(await place.news(), ['It rattles: mention'])
  })
}

test('last_read_at never moves back', async () => {
  const { own, path, thread } = await openWithNews()
  clock.advance(60_000)
  await expect(205, await ben.patch(own))
  const { last_read_at, updated_at } = await ben.read(own)
  const { db } = forge.belfry
  await db.transaction((transaction) => transaction.query(sql`update threads set unread = true where id = ${thread.id}`))
  await expect(202, await ben.put(`${path}/notifications`, { last_read_at: new Date(Date.parse(updated_at) + 1000) }))
  assert.deepEqual([(await ben.read(own)).unread, (await ben.read(own)).last_read_at], [false, last_read_at])
})

test('octokit marks a thread as done: it leaves every list, can be read, and returns when it is updated', async () => {
  for (const { rest } of octokitsOf(forge, ben)) {
    const place = await openWithNews()
    const thread_id = Number(place.thread.id)
    assert.equal((await rest.activity.markThreadAsDone({ thread_id })).status, 204)
    assert.equal((await rest.activity.markThreadAsDone({ thread_id })).status, 204)
    assert.deepEqual(await place.inbox(ben, '?all=true'), [])
    assert.deepEqual(await place.inbox(ben, ''), [])
    const { done, unread } = await ben.read(place.own)
    assert.deepEqual({ done, unread }, { done: true, unread: false })
    await place.say(cy, place.number)
    assert.deepEqual(await place.news(), ['It rattles: mention'])
    assert.equal((await ben.read(place.own)).done, false)
  }
})

test('done threads stay done when everything is marked as read', async () => {
  const place = await openWithNews()
  await expect(204, await ben.delete(place.own))
  await expect(205, await ben.put('/notifications'))
  await expect(205, await ben.patch(place.own))
  assert.deepEqual(await place.inbox(ben), [])
  assert.equal((await ben.read(place.own)).done, true)
  assert.deepEqual(await place.inbox(ada), ['It rattles: subscribed'])
})
