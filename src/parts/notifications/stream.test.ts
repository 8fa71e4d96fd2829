import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect, type Person } from '#test/forge.ts'
import { shareGuild } from '#test/guild.ts'
import { fillInbox, told } from '#test/inbox.ts'
import { until } from '#test/machine.ts'
import { listen } from '#test/streams.ts'

const forge = await shareGuild()
const { ada, ben, cy } = forge

interface Shown {
  id: string
  subject: { title: string }
  reason: string
  unread: boolean
  done: boolean
}

const lines = (threads: Shown[]) =>
  threads.map(({ subject, reason, unread, done }) =>
    [subject.title, reason, unread && 'unread', done && 'done'].filter(Boolean).join(' '),
  )

/** Waits until all earlier transactions have ended, also those of other tests, because changes made during one of them are sent again. */
async function follow(person: Person, last?: string) {
  await until('no transaction is older than the newest thread', async () => {
    const over = await forge.belfry.db.rows(sql`select where log_horizon() > coalesce((select max(position) from threads), 0)`)
    return over.length > 0
  })
  return listen(person, '/notifications', last)
}

test('a stream tells of news, of what is read and of what is done, each as the list would write it', async () => {
  const place = await forge.place()
  await using stream = await follow(ben)
  assert.equal(stream.answer.status, 200)
  assert.match(stream.answer.headers.get('content-type') ?? '', /^text\/event-stream/)
  const number = await place.open(cy, { body: '@ben' })
  const [first] = await stream.until(1)
  assert.deepEqual(lines([first]), ['It rattles mention unread'])
  assert.deepEqual(first, await ben.read(`/notifications/threads/${first.id}`))
  await expect(205, await ben.patch(`/notifications/threads/${first.id}`))
  assert.deepEqual(lines((await stream.until(2)).slice(1)), ['It rattles mention'])
  await expect(204, await ben.delete(`/notifications/threads/${first.id}`))
  assert.deepEqual(lines((await stream.until(3)).slice(2)), ['It rattles mention done'])
  await place.say(cy, number)
  assert.deepEqual(lines((await stream.until(4)).slice(3)), ['It rattles mention unread'])
})

test('a stream starts from now and has the threads of one user only', async () => {
  const place = await forge.place()
  await place.open(cy, { title: 'Before', body: '@ben' })
  await told(forge)
  await using bens = await follow(ben)
  await using cys = await follow(cy)
  await place.open(ada, { title: 'For ben', body: '@ben' })
  await place.open(ada, { title: 'For cy', body: '@cy' })
  assert.deepEqual(lines(await bens.until(1)), ['For ben mention unread'])
  assert.deepEqual(lines(await cys.until(1)), ['For cy mention unread'])
})

test('a client that reconnects gets all changes once', async () => {
  const place = await forge.place()
  const titles = ['One', 'Two', 'Three']
  let last = ''
  {
    await using stream = await follow(ben)
    await place.open(cy, { title: 'Zero', body: '@ben' })
    await stream.until(1)
    last = stream.messages[0]?.id ?? ''
    assert.match(last, /^\d+$/)
  }
  for (const title of titles) {
    await place.open(cy, { title, body: '@ben' })
    await told(forge)
  }
  const [three] = await ben.read(`${place.path}/notifications?per_page=1`)
  await expect(205, await ben.patch(`/notifications/threads/${three.id}`))
  await using resumed = await follow(ben, last)
  // A thread is sent once in its current state, not once for each change.
  const state = (threads: Shown[]) => new Map(threads.map((thread) => [thread.subject.title, thread.unread]))
  const seen = state(await resumed.until(3))
  assert.deepEqual([...seen.keys()].toSorted(), titles.toSorted())
  assert.equal(seen.get(three.subject.title), false)
  await using caughtUp = await follow(ben, resumed.messages.at(-1)?.id)
  await place.open(cy, { title: 'Four', body: '@ben' })
  assert.deepEqual(lines(await caughtUp.until(1)), ['Four mention unread'])
})

test('marking everything sends each thread', async () => {
  const place = await forge.place()
  await fillInbox(forge, ada, place, 40)
  await using stream = await follow(ada)
  await expect(202, await ada.put(`${place.path}/notifications`))
  const shown: Shown[] = await stream.until(40)
  assert.equal(new Set(shown.map(({ id }) => id)).size, 40)
  assert.ok(shown.every(({ unread }) => !unread))
})

test('a client with an invalid position starts from now', async () => {
  const place = await forge.place()
  for (const junk of ['x', '-1', '1e9', '999999999999999', '99999999999999999999']) {
    await using stream = await follow(ben, junk)
    assert.equal(stream.answer.status, 200)
    await place.open(cy, { title: junk, body: '@ben' })
    assert.deepEqual(lines(await stream.until(1)), [`${junk} mention unread`])
  }
})

test('a stream needs the scopes of the list and ends with its token', async () => {
  const narrow = await forge.tokenFor('ben', ['public_repo'])
  assert.equal((await narrow.with({ accept: 'text/event-stream' }).get('/notifications')).status, 403)
  assert.equal((await forge.nobody.with({ accept: 'text/event-stream' }).get('/notifications')).status, 401)
  const eve = await forge.person('eve')
  await using stream = await follow(eve)
  await expect(204, await forge.admin.delete('/admin/users/eve/authorizations'))
  await stream.ended
  assert.deepEqual(stream.messages, [])
})

test('a stream ends with its token, also if it looks before this node hears of the commit', async () => {
  const fay = await forge.person('fay')
  await using stream = await follow(fay)
  // Not reported to this process, as a commit of another node whose notification is late.
  await forge.belfry.db.query(sql`delete from tokens where user_id = (select id from accounts where login = 'fay')`)
  await stream.ended
  assert.deepEqual(stream.messages, [])
})
