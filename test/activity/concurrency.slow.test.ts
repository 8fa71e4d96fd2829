import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createParser } from 'eventsource-parser'
import { Database, sql } from '#platform/database.ts'
import { type Client, expect, type Forge, openForge, type Person } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { Host, newToken, openDatabase } from '#test/process.ts'
import { record } from '#test/timelines.ts'
import { patient } from '../databases.ts'

const writers = 50
const starred = ['one', 'two', 'three']

/** Fifty users who work in one organization, and one who follows them all. */
async function openWorkshop() {
  const forge = await openForge()
  const ada = await forge.person('ada')
  const reader = await forge.person('reader')
  await forge.organization('acme', ada)
  await expect(200, await ada.patch('/orgs/acme', { default_repository_permission: 'write' }))
  const people: Person[] = []
  for (let index = 0; index < writers; index++) {
    const login = `writer-${index}`
    await expect(201, await forge.admin.post('/admin/users', { login, email: `${login}@example.com` }))
    people.push(await forge.tokenFor(login, ['repo', 'user', 'notifications']))
    await expect(200, await ada.put(`/orgs/acme/memberships/${login}`))
    await expect(204, await reader.put(`/user/following/${login}`))
  }
  for (const name of starred) await ada.owns(name)
  const hub = await expect(201, await ada.post('/orgs/acme/repos', { name: 'hub', auto_init: true }))
  const { object } = await ada.read('/repos/acme/hub/git/ref/heads/main')
  const [newest] = await ada.read('/repos/acme/hub/events')
  return Object.assign(forge, {
    ada,
    reader,
    people,
    hub: hub.id as number,
    sha: object.sha as string,
    begun: newest.id as string,
  })
}

/** What each does, and how many events come of it, by kind. */
async function work({ sha }: { sha: string }, person: Person, index: number) {
  const acts = [
    ...starred.map((name) => () => person.put(`/user/starred/ada/${name}`)),
    () => person.post('/repos/acme/hub/git/refs', { ref: `refs/heads/of-${index}`, sha }),
    () => person.put('/user/starred/acme/hub'),
    () => person.post('/user/repos', { name: 'own' }),
    ...(index % 2 ? [() => person.delete('/repos/acme/hub/subscription')] : []),
    ...(index % 5 ? [] : [() => person.post('/repos/acme/hub/forks')]),
    ...(index % 10 ? [] : [() => person.delete('/user/starred/ada/one'), () => person.put('/user/starred/ada/one')]),
  ]
  for (const act of acts) {
    const answer = await act()
    assert.ok(answer.ok, `${answer.url}: ${answer.status} ${await answer.text()}`)
  }
}
const made = { WatchEvent: writers * 4 + writers / 10, ForkEvent: writers / 5, CreateEvent: 2 * writers }

/**
 * Transactions that record something, and end only when later events have been shown; every third is taken back. They run on
 * connections of their own, as those of another node would.
 */
async function dawdle({ belfry, clock, hub, reader }: Forge & { hub: number; reader: Person }, rounds: number) {
  await using db = new Database(belfry.db.pool.options, clock, patient)
  const taken = new Error('taken back')
  const { id } = (await db.first<{ id: number }>(sql`select id from accounts where login = 'writer-0'`)) ?? assert.fail()
  let kept = 0
  for (let round = 0; round < rounds; round++) {
    const ends = db.transaction(async (transaction) => {
      await record(transaction, { id }, { id: hub }, { type: 'PublicEvent', payload: {} })
      const mine = await transaction.first<{ id: number }>(sql`select max(id) as id from events where type = 'PublicEvent'`)
      await until('something later is shown', async () => {
        const [newest] = await reader.read('/users/reader/received_events')
        return Number(newest?.id ?? 0) > (mine?.id ?? 0)
      })
      if (round % 3 === 2) throw taken
    })
    await ends.then(
      () => kept++,
      (error) => assert.equal(error, taken),
    )
    belfry.db.notifyTransactionEnd('committed elsewhere')
  }
  return kept
}

type Readiness = (seen: string[]) => boolean

/** Asks for what is newer, again and again, until that is all. Others that use the database server may hold it up. */
async function poll(client: Client, begun: string, isAll: Readiness) {
  const seen: string[] = []
  const look = async () => {
    const events = (await client.read(`/users/reader/received_events?after=${seen.at(-1) ?? begun}`)) as { id: string }[]
    seen.push(...events.map(({ id }) => id))
    return isAll(seen)
  }
  await until('all is told', look, 150_000)
  await look()
  return seen
}

/** Follows the stream, and comes back for the rest whenever `often` events were read. */
async function follow(client: Client, begun: string, often: number, isAll: Readiness) {
  const seen: string[] = []
  while (!isAll(seen)) {
    const headers = { accept: 'text/event-stream', 'last-event-id': seen.at(-1) ?? begun }
    const answer = await client.with(headers).get('/users/reader/received_events')
    assert.equal(answer.status, 200)
    const enough = seen.length + often
    const parser = createParser({ onEvent: ({ id }) => void seen.push(id ?? '') })
    for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      parser.feed(chunk)
      if (seen.length >= enough || isAll(seen)) break
    }
  }
  return seen
}

test('fifty write at once, some take their time: who polls and who follows miss nothing, see nothing twice, and see the same', async () => {
  await using forge = await openWorkshop()
  const { reader, people, begun } = forge
  let all = Number.POSITIVE_INFINITY
  const isAll: Readiness = (seen) => seen.length >= all
  const polled = poll(reader, begun, isAll)
  const polledFurther = poll(reader.versioned, begun, isAll)
  const followed = follow(reader, begun, 60, isAll)
  const [kept] = await Promise.all([dawdle(forge, 6), ...people.map((person, index) => work(forge, person, index))])
  const written = await forge.belfry.db.rows<{ id: number; type: string }>(sql`
    select id, type from events where id > ${begun} order by position, id`)
  all = written.length
  // Whoever follows is woken by what is committed, and there will be nothing more.
  forge.belfry.db.notifyTransactionEnd('committed elsewhere')

  const types = Object.groupBy(written, ({ type }) => type)
  const counts = Object.fromEntries(Object.entries(types).map(([type, events]) => [type, events?.length]))
  assert.deepEqual(counts, { ...made, PublicEvent: kept })
  assert.equal(kept, 4)
  const ids = written.map(({ id }) => `${id}`)
  assert.notDeepEqual(
    ids,
    ids.toSorted((a, b) => Number(a) - Number(b)),
    'some did come late',
  )
  assert.deepEqual(await polled, ids)
  assert.deepEqual(await polledFurther, ids)
  assert.deepEqual(await followed, ids)
  await assertCounts(forge)
})

async function assertCounts({ ada }: { ada: Person }) {
  const hub = await ada.read('/repos/acme/hub')
  assert.equal(hub.stargazers_count, writers)
  assert.equal(hub.watchers_count, writers)
  assert.equal(hub.subscribers_count, 1 + writers / 2)
  assert.equal(hub.forks_count, writers / 5)
  assert.equal(hub.network_count, 1 + writers / 5)
  assert.equal((await ada.read('/repos/acme/hub/git/matching-refs/heads/of-')).length, writers)
  for (const name of starred) {
    const repo = await ada.read(`/repos/ada/${name}`)
    assert.deepEqual([repo.stargazers_count, repo.subscribers_count, repo.forks_count], [writers, 1, 0], name)
  }
}

test('two nodes on one database: what is written on one is soon on the other, and does not go away again', async () => {
  await using host = await Host.open()
  await using database = await openDatabase()
  const token = newToken()
  const settings = { DATABASE_URL: database.url, BELFRY_ADMIN_TOKEN: token }
  const here = await host.start({ settings })
  const there = await host.start({ settings })
  const ask = (headers: Record<string, string>) =>
    fetch(`${there.web}/api/v3/users/admin/events`, { headers: { authorization: `Bearer ${token}`, ...headers } })
  const write = async (name: string) => assert.equal((await here.post('/api/v3/user/repos', token, { name })).status, 201)
  const client = await database.connect()
  let notifications = 0
  client.on('notification', () => void notifications++)
  await client.query('listen belfry_commits')
  const stream = await ask({ accept: 'text/event-stream' })
  const chunks = stream.body?.pipeThrough(new TextDecoderStream()).getReader() ?? assert.fail()

  for (let round = 1; round <= 5; round++) {
    const before = await ask({})
    const etag = before.headers.get('etag') ?? ''
    await before.text()
    await write(`r${round}`)
    const poll = () => ask({ 'if-none-match': etag })
    await until('the other node has it', async () => (await poll()).status === 200)
    for (let again = 0; again < 5; again++) {
      const after = await poll()
      assert.equal(after.status, 200, 'no stale 304')
      const [newest] = (await after.json()) as { repo: { name: string } }[]
      assert.equal(newest?.repo.name, `admin/r${round}`)
    }
  }

  const names: string[] = []
  const parser = createParser({ onEvent: ({ data }) => void names.push(JSON.parse(data).repo.name) })
  const read = async (total: number) => {
    while (names.length < total) parser.feed((await chunks.read()).value ?? '')
  }
  await read(5)
  assert.deepEqual(names, ['admin/r1', 'admin/r2', 'admin/r3', 'admin/r4', 'admin/r5'])
  await chunks.cancel()
  // What a notification does is tested in src/platform/commit-notifications.test.ts.
  await until('the node that wrote has notified the other', () => notifications > 0)
  await client.end()
  assert.equal(await here.stop(), '0')
  assert.equal(await there.stop(), '0')
})
