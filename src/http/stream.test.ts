import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, expect, type Forge, openForge } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { listen } from '#test/streams.ts'
import { mostStreams, StreamLimits } from './stream.ts'
import { Hubs } from './stream-hub.ts'
import { type Step, StreamReader } from './stream-reader.ts'

async function openEngine() {
  const forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  return Object.assign(forge, { ada, ben })
}

/** Counts the looks at a timeline: nothing else is planned anew for its values. */
function countLooks({ belfry: { db } }: Forge) {
  const planned = db.customPlanRows.bind(db)
  const counter = { looks: 0 }
  db.customPlanRows = ((statement: Parameters<typeof planned>[0]) => {
    counter.looks++
    return planned(statement)
  }) as typeof db.customPlanRows
  return counter
}

const follow = (client: Client, count: number, last?: string) =>
  Promise.all(Array.from({ length: count }, () => listen(client, '/repos/ada/engine/events', last)))

/** The creation of the repository may arrive too: a transaction of another test on the same server may have delayed it. */
const hasStarOf = ({ messages }: { messages: { data: string }[] }, login: string) =>
  messages.some(({ data }) => data.includes('"WatchEvent"') && data.includes(`"login":"${login}"`))

async function leave(streams: AsyncDisposable[]) {
  await Promise.all(streams.map((stream) => stream[Symbol.asyncDispose]()))
}

const star = (who: Client) => who.put('/user/starred/ada/engine')

test('streams of the same caller and address share one look, and each is told everything once', async () => {
  await using forge = await openEngine()
  const counter = countLooks(forge)
  const mine = await follow(forge.ben, 30)
  const others = await follow(forge.nobody, 30)
  try {
    await expect(204, await star(forge.ben))
    for (const { until: told } of [...mine, ...others]) {
      assert.deepEqual(
        (await told(1)).map(({ type }: { type: string }) => type),
        ['WatchEvent'],
      )
    }
    counter.looks = 0
    await forge.ada.owns('mill')
    await forge.ada.owns('loom')
    // Without sharing, each of the 60 would look at least once.
    assert.ok(counter.looks < 30, `${counter.looks} looks of 60 streams`)
    const [first] = mine
    const again = await follow(forge.ben, 5, first?.messages[0]?.id)
    await expect(204, await star(forge.ada))
    for (const { until: told, messages } of [...mine, ...others]) {
      await told(2)
      assert.equal(new Set(messages.map(({ id }) => id)).size, messages.length)
      assert.equal(messages.length, 2)
    }
    for (const { until: told, messages } of again) {
      await told(1)
      assert.equal(messages.length, 1)
      assert.equal(messages[0]?.id, first?.messages[1]?.id)
    }
    await leave(again)
  } finally {
    await leave([...mine, ...others])
  }
})

test('a stream does not look when something changes that it does not follow', async () => {
  await using forge = await openEngine()
  await forge.ben.owns('elsewhere')
  const counter = countLooks(forge)
  const [stream] = await follow(forge.ben, 1)
  assert.ok(stream)
  try {
    await expect(204, await star(forge.ben))
    await until('his star arrives', () => hasStarOf(stream, 'ben'))
    // Transactions of other tests on the same server may delay the end of the looks at this change.
    await until('commits elsewhere cause no look', async () => {
      counter.looks = 0
      for (let n = 0; n < 5; n++) await expect(200, await forge.ben.patch('/repos/ben/elsewhere', { description: `${n}` }))
      return counter.looks === 0
    })
    await expect(204, await star(forge.ada))
    await until('her star arrives', () => hasStarOf(stream, 'ada'))
    assert.ok(counter.looks > 0)
  } finally {
    await leave([stream])
  }
})

test('four looks of all streams run at once, because requests need connections too', async () => {
  await using forge = await openForge()
  const hubs = new Hubs(forge.belfry)
  const ends: (() => void)[] = []
  const looks = Array.from({ length: 6 }, () =>
    hubs.look(() => new Promise<Step>((resolve) => ends.push(() => resolve({ news: [], bookmark: null }))), null),
  )
  assert.equal(ends.length, 4)
  ends[0]?.()
  await looks[0]
  assert.equal(ends.length, 5)
  ends[1]?.()
  await looks[1]
  for (const end of ends) end()
  await Promise.all(looks)
})

test('a user may have only so many streams, and closing one makes room', async () => {
  await using forge = await openEngine()
  const streams = await follow(forge.ben, mostStreams.user)
  try {
    for (const { answer } of streams) assert.equal(answer.status, 200)
    for (const client of [forge.ben, forge.ben.versioned]) {
      const refused = await client.with({ accept: 'text/event-stream' }).get('/repos/ada/engine/events')
      assert.equal(refused.headers.get('retry-after'), '60')
      const { message, status, documentation_url } = await expect(429, refused)
      assert.match(message, /^Too many open streams: a user may have 50\. Close one of them/)
      assert.deepEqual([status, documentation_url], ['429', `${forge.web}/docs`])
    }
    const [other] = await follow(forge.ada, 1)
    assert.equal(other?.answer.status, 200, 'others have their own')
    await other?.[Symbol.asyncDispose]()
    await streams.pop()?.[Symbol.asyncDispose]()
    await until('there is room again', async () => {
      const [stream] = await follow(forge.ben, 1)
      await stream?.[Symbol.asyncDispose]()
      return stream?.answer.status === 200
    })
  } finally {
    await leave(streams)
  }
})

test('streams that were refused by their first look take no room', async () => {
  await using forge = await openEngine()
  for (let n = 0; n < mostStreams.user + 5; n++) {
    const { status } = await forge.ben.with({ accept: 'text/event-stream' }).get('/repos/ada/nothing/events')
    assert.equal(status, 404)
  }
})

test('a client that does not keep up is let go, and what waits for it is bounded', async () => {
  const reader = new StreamReader(async () => ({ news: [], bookmark: null }))
  const megabyte = 'x'.repeat(1024 * 1024)
  reader.push(megabyte.repeat(4))
  assert.equal(reader.ended, false, 'what one look found is sent, however much it is')
  const read = reader.read()
  assert.equal((await read.next()).value?.length, 4 * megabyte.length)
  for (let n = 0; n < 2; n++) reader.push(megabyte)
  assert.equal(reader.ended, false)
  reader.push('more')
  assert.equal(reader.ended, true)
  assert.equal((await read.next()).done, true)
})

test('larger IPv6 networks may have more streams, and not as many as their addresses together', () => {
  const limits = new StreamLimits()
  const from = (ip: string) => limits.reserve({ user_id: null, ip })
  const hex = (index: number) => index.toString(16)
  /** How many streams are taken when each comes from another address. */
  const taken = (addressOf: (index: number) => string) => {
    let count = 0
    try {
      for (; count < 2000; count++) from(addressOf(count))
    } catch (error) {
      assert.equal((error as { reason: string }).reason, 'too_many_streams')
    }
    return count
  }
  assert.equal(
    taken((index) => `2001:db8:1:${hex(index % 256)}::${hex(index)}`),
    400,
  )
  assert.equal(
    taken((index) => `2001:db8:1:${hex(1024 + index)}::1`),
    400,
    'the rest of the /48',
  )
  assert.equal(
    taken((index) => `2001:db8:${hex(2 + index)}::1`),
    800,
    'the rest of the /32',
  )
  assert.throws(() => from('2001:db8:ffff::1'), /the network 2001:db8::\/32 may have 1600/)
  from('2001:db9::1')
  from('192.0.2.1')
})

test('an address may have only so many streams, IPv6 by its /64, and so may the server', () => {
  const limits = new StreamLimits()
  const from = (ip: string, user_id: number | null = null) => limits.reserve({ user_id, ip })
  const releases = Array.from({ length: mostStreams.address }, (_, index) => from(`2001:db8:1:2::${index.toString(16)}`))
  assert.throws(() => from('2001:db8:1:2:ffff::1'), { reason: 'too_many_streams' })
  from('2001:db8:1:3::1')()
  releases[0]?.()
  from('2001:db8:1:2::1')()
  const room = mostStreams.server - releases.length + 1
  for (let index = 0; index < room; index++) from(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`)
  assert.throws(() => from('192.0.2.1'), { reason: 'unavailable' })
})
