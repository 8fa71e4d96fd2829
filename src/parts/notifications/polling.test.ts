import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomText } from '#platform/secrets.ts'
import { type Client, expect } from '#test/forge.ts'
import { shareGuild } from '#test/guild.ts'
import { octokitsOf, told } from '#test/inbox.ts'

const forge = await shareGuild()
const { ada, ben, cy, clock } = forge

/** A repository whose list ben has polled until its date is stable. */
async function openPolled(options: Record<string, unknown> = {}, client: Client = ben) {
  const place = await forge.place(options)
  const number = await place.open(cy, { body: '@ben' })
  const { id } = await place.thread(ben)
  const poll = new Poll(client, `${place.path}/notifications`)
  await poll.settle()
  return { ...place, number, id: id as string, poll }
}

/** A client that sends the last date it got. */
class Poll {
  readonly #client: Client
  readonly #path: string
  date = ''

  constructor(client: Client, path: string) {
    this.#client = client
    this.#path = path
  }

  async ask(): Promise<number> {
    const answer = await this.#client.with(this.date ? { 'if-modified-since': this.date } : {}).get(this.#path)
    const date = answer.headers.get('last-modified') ?? ''
    assert.ok(!Number.isNaN(Date.parse(date)), date)
    if (this.date) assert.ok(Date.parse(date) >= Date.parse(this.date), `${date} is before ${this.date}`)
    assert.ok(Date.parse(date) <= clock.now().getTime())
    this.date = date
    return answer.status
  }

  /** Polls until the date is stable. */
  async settle() {
    await this.ask()
    clock.advance(2000)
    await this.ask()
    assert.equal(await this.ask(), 304)
  }
}

test('an unchanged list is a 304 by its date at any time later, with the poll interval and no body', async () => {
  for (const client of [ben, ben.versioned]) {
    const { path, poll } = await openPolled({}, client)
    for (const pause of [0, 1000, 86_400_000]) {
      clock.advance(pause)
      const answer = await client.with({ 'if-modified-since': poll.date }).get(`${path}/notifications`)
      assert.equal(answer.status, 304)
      assert.match(answer.headers.get('x-poll-interval') ?? '', /^(60|120|180|300)$/)
      assert.equal(answer.headers.get('last-modified'), poll.date)
      assert.match(answer.headers.get('etag') ?? '', /^"[0-9a-f]{40}"$/)
      assert.equal(await answer.text(), '')
    }
    const fresh = await client.get(`${path}/notifications`)
    assert.match(fresh.headers.get('x-poll-interval') ?? '', /^(60|120|180|300)$/)
    assert.equal(fresh.headers.get('last-modified'), poll.date)
  }
})

test('octokit gets a 304 from every list', async () => {
  await openPolled()
  for (const { rest } of octokitsOf(forge, ben)) {
    const ask = (headers = {}) => rest.activity.listNotificationsForAuthenticatedUser({ headers })
    await ask()
    clock.advance(2000)
    const { headers } = await ask()
    await assert.rejects(ask({ 'if-modified-since': headers['last-modified'] }), { status: 304 })
    await assert.rejects(ask({ 'if-none-match': headers.etag }), { status: 304 })
  }
})

const changes: Record<string, (place: Awaited<ReturnType<typeof openPolled>>) => Promise<unknown>> = {
  'a new thread': ({ open }) => open(cy, { body: '@ben' }),
  'news of an old one': ({ say, number }) => say(cy, number),
  'a thread that was read': async ({ id }) => expect(205, await ben.patch(`/notifications/threads/${id}`)),
  'a thread that is done': async ({ id }) => expect(204, await ben.delete(`/notifications/threads/${id}`)),
  'everything read': async () => expect(205, await ben.put('/notifications')),
  'a title that was changed': async ({ path, number }) =>
    expect(200, await ada.patch(`${path}/issues/${number}`, { title: 'Hm' })),
  'an issue that was closed': async ({ path, number }) =>
    expect(200, await cy.patch(`${path}/issues/${number}`, { state: 'closed' })),
}
for (const [name, change] of Object.entries(changes)) {
  test(`no 304 after ${name}, within the second or later`, async () => {
    for (const pause of [0, 1, 1000, 60_000]) {
      const place = await openPolled()
      clock.advance(pause)
      await change(place)
      await told(forge)
      assert.equal(await place.poll.ask(), 200, `after ${pause} ms`)
      await place.poll.settle()
    }
  })
}

test('no 304 after a repository was renamed or hidden', async () => {
  const place = await openPolled({ private: true })
  const poll = new Poll(ben, '/notifications?all=true')
  await poll.settle()
  await expect(200, await ada.patch(place.path, { name: 'renamed' }))
  assert.equal(await poll.ask(), 200)
  await poll.settle()
  await expect(204, await ada.delete('/orgs/guild/memberships/ben'))
  assert.equal(await poll.ask(), 200)
  await poll.settle()
  await expect(200, await ada.put('/orgs/guild/memberships/ben', {}))
  assert.equal(await poll.ask(), 200)
  await poll.settle()
})

test('the date just served gives a 304 at once, initially and after each change', async () => {
  for (const client of [ben, ben.versioned]) {
    const place = await forge.place()
    const number = await place.open(cy, { body: '@ben' })
    const { id } = await place.thread(ben)
    const poll = new Poll(client, `${place.path}/notifications`)
    assert.deepEqual([await poll.ask(), await poll.ask()], [200, 304])
    // Within the second of the first request, and once in each later second.
    for (const pause of [0, 0, 1000, 1000, 60_000]) {
      clock.advance(pause)
      await place.say(cy, number)
      await told(forge)
      assert.deepEqual([await poll.ask(), await poll.ask(), await poll.ask()], [200, 304, 304], `after ${pause} ms`)
    }
    clock.advance(1000)
    await expect(205, await ben.patch(`/notifications/threads/${id}`))
    assert.deepEqual([await poll.ask(), await poll.ask()], [200, 304])
  }
})

test('each of several changes within a second is visible', async () => {
  const { poll, say, number, id } = await openPolled()
  clock.advance(10_000)
  for (let n = 0; n < 5; n++) {
    await say(cy, number)
    await told(forge)
    assert.equal(await poll.ask(), 200)
    await expect(205, await ben.patch(`/notifications/threads/${id}`))
    assert.equal(await poll.ask(), 200)
    clock.advance(150)
  }
  await poll.settle()
})

test('a client that uses its own clock misses no change of that second', async () => {
  const { path, say, number, id } = await openPolled()
  const ask = async () => (await ben.with({ 'if-modified-since': clock.now().toUTCString() }).get(`${path}/notifications`)).status
  assert.equal(await ask(), 304)
  await say(cy, number)
  await told(forge)
  assert.equal(await ask(), 200)
  await expect(205, await ben.patch(`/notifications/threads/${id}`))
  assert.equal(await ask(), 200)
  clock.advance(2000)
  assert.equal(await ask(), 304)
})

test('the date does not move back when the clock does', async () => {
  const { poll, say, number, path } = await openPolled()
  clock.advance(60_000)
  await say(cy, number)
  await told(forge)
  await poll.settle()
  const { date } = poll
  clock.advance(-30_000)
  await say(cy, number)
  await told(forge)
  const answer = await ben.with({ 'if-modified-since': date }).get(`${path}/notifications`)
  assert.equal(answer.status, 200)
  assert.ok(Date.parse(answer.headers.get('last-modified') ?? '') >= Date.parse(date))
  clock.advance(90_000)
  assert.equal(await poll.ask(), 200)
  assert.ok(Date.parse(poll.date) > Date.parse(date))
  await poll.settle()
})

test('a long request has its date too', async () => {
  const { path } = await openPolled()
  const poll = new Poll(ben, `${path}/notifications?junk=${randomText(7000)}`)
  assert.equal(await poll.ask(), 200)
  await poll.settle()
})

test('an ETag identifies one list and takes precedence over a date', async () => {
  const { path, poll, say, number } = await openPolled()
  const list = `${path}/notifications`
  const etag = (await ben.get(list)).headers.get('etag') ?? ''
  assert.equal((await ben.with({ 'if-none-match': etag }).get(list)).status, 304)
  assert.equal((await ben.with({ 'if-none-match': '"other"', 'if-modified-since': poll.date }).get(list)).status, 200)
  await say(cy, number)
  await told(forge)
  const after = await ben.with({ 'if-none-match': etag }).get(list)
  assert.equal(after.status, 200)
  assert.notEqual(after.headers.get('etag'), etag)
})

test('an invalid or old date gives no 304', async () => {
  const { path } = await openPolled()
  for (const date of ['yesterday', '', '0', 'Thu, 01 Jan 1970 00:00:00 GMT']) {
    assert.equal((await ben.with({ 'if-modified-since': date }).get(`${path}/notifications`)).status, 200, date)
  }
})

test('a change in one list does not change another', async () => {
  const [here, there] = [await openPolled(), await openPolled()]
  await there.say(cy, there.number)
  await told(forge)
  assert.equal(await there.poll.ask(), 200)
  assert.equal(await here.poll.ask(), 304)
})
