import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '#platform/database.ts'
import { type Client, expect, type Forge, openForge } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { listen } from '#test/streams.ts'
import { record } from '#test/timelines.ts'

async function openEngine() {
  const forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  const { id } = await ada.owns('engine')
  return Object.assign(forge, { ada, ben, repo: { id: id as number } })
}

/** Waits until `log_horizon` has passed all events: transactions of other tests on the same server may delay it. */
const settle = ({ belfry: { db } }: Forge) =>
  until('no transaction is older than the newest event', async () => {
    const over = await db.query(sql`select where log_horizon() > coalesce((select max(position) from events), 0)`)
    return over.rowCount === 1
  })

const ids = async (client: Client, path: string): Promise<string[]> =>
  (await client.read(path)).map(({ id }: { id: string }) => id)

test('polling runs no query until something is committed, whatever unknown parameters the URL has', async () => {
  await using forge = await openEngine()
  const { pool } = forge.belfry.db
  const query = pool.query.bind(pool)
  let queries = 0
  pool.query = ((...args: Parameters<typeof query>) => {
    queries++
    return query(...args)
  }) as typeof pool.query
  for (const path of ['/repos/ada/engine/events', '/notifications']) {
    // A cached page expires after 0.8 seconds, so at least one of several rounds must run no query.
    const rounds: number[] = []
    for (let round = 0; round < 5; round++) {
      const etag = (await forge.ben.get(`${path}?x=after=`)).headers.get('etag') ?? ''
      queries = 0
      for (let n = 0; n < 5; n++) {
        const unknown = `x=after=${round}.${n}&junk[]=${'y'.repeat(n * 500)}`
        assert.equal((await forge.ben.with({ 'if-none-match': etag }).get(`${path}?${unknown}`)).status, 304)
      }
      rounds.push(queries)
    }
    assert.ok(rounds.includes(0), `queries in each round of ${path}: ${rounds}`)
  }
})

test('a page that is cached for one token is not sent to another', async () => {
  await using forge = await openEngine()
  await forge.ada.owns('secret', { private: true })
  const narrow = await forge.tokenFor('ada', ['public_repo'])
  assert.equal((await forge.ada.read('/users/ada/events')).length, 2)
  assert.equal((await narrow.read('/users/ada/events')).length, 1)
  assert.equal((await forge.ben.read('/users/ada/events')).length, 1)
  assert.equal((await forge.ada.get('/repos/ada/secret/events')).status, 200)
  assert.equal((await forge.ben.get('/repos/ada/secret/events')).status, 404)
})

test('the poll interval rises while the server is busy, and falls again', async () => {
  await using forge = await openEngine()
  const interval = async () => Number((await forge.nobody.get('/repos/ada/engine/events')).headers.get('x-poll-interval'))
  let busy = true
  const work = () => {
    const end = performance.now() + 20
    while (performance.now() < end);
    if (busy) setImmediate(work)
  }
  work()
  const within = async (wanted: (seconds: number) => boolean) => {
    for (let n = 0; n < 100; n++) {
      if (wanted(await interval())) return true
      await sleep(100)
    }
    return false
  }
  assert.ok(await within((seconds) => seconds > 60))
  busy = false
  assert.ok(await within((seconds) => seconds === 60))
})

test('`after` returns newer events, oldest first, on every timeline', async () => {
  await using forge = await openEngine()
  await forge.ben.put('/user/starred/ada/engine')
  await forge.ben.put('/user/following/ada')
  await forge.ada.owns('mill')
  await settle(forge)
  const all = await ids(forge.ada, '/users/ada/received_events?after=0')
  assert.deepEqual(all, (await ids(forge.ada, '/users/ada/received_events')).toReversed())
  assert.equal(all.length, 3)
  assert.deepEqual(await ids(forge.ada, `/users/ada/received_events?after=${all[0]}`), all.slice(1))
  assert.deepEqual(await ids(forge.ada, `/users/ada/received_events?after=${all[2]}`), [])
  assert.deepEqual(await ids(forge.nobody, `/repos/ada/engine/events?after=${all[0]}`), [all[1]])
  assert.deepEqual(await ids(forge.nobodyVersioned, '/users/ada/events?after=0&per_page=1'), [all[0]])
  // An id that does not exist yet starts now; a deleted one starts with the first event after it.
  assert.deepEqual(await ids(forge.ada, '/users/ada/events?after=999999'), [])
  for (const junk of ['1%00', 'x', '-1', '1.5', '1e3', '99999999999999999999']) {
    assert.equal((await forge.ada.get(`/users/ada/events?after=${junk}`)).status, 422, junk)
  }
})

test('an event that commits late, with a lower id, is not skipped', async () => {
  await using forge = await openEngine()
  const { db } = forge.belfry
  await settle(forge)
  const [ben] = await db.rows<{ id: number }>(sql`select id from accounts where login = 'ben'`)
  const [begun, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const late = db.transaction(async (transaction) => {
    await record(transaction, ben ?? { id: 0 }, forge.repo, { type: 'WatchEvent', payload: { action: 'started' } })
    begun.resolve()
    await finish.promise
  })
  await begun.promise
  await forge.ada.owns('mill')
  const path = '/users/ada/received_events?after='
  const seen = await ids(forge.ada, `${path}0`)
  // The list shows the newer event at once; `after` waits until no earlier one can appear.
  assert.equal((await ids(forge.ada, '/users/ada/received_events')).length, 2)
  assert.equal(seen.length, 1)
  finish.resolve()
  await late
  await settle(forge)
  const rest = await ids(forge.ada, `${path}${seen[0]}`)
  assert.equal(rest.length, 2)
  assert.ok(Number(rest[0]) < Number(rest[1]))
})

test('`after` is not cached, however its name is encoded: a rollback shows newer events', async () => {
  await using forge = await openEngine()
  const { db } = forge.belfry
  await settle(forge)
  const [ben] = await db.rows<{ id: number }>(sql`select id from accounts where login = 'ben'`)
  for (const name of ['after', '%61fter', 'aft%65r']) {
    const [begun, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const undone = db.transaction(async (transaction) => {
      await record(transaction, ben ?? { id: 0 }, forge.repo, { type: 'WatchEvent', payload: { action: 'started' } })
      begun.resolve()
      await finish.promise
      throw new Error('undone')
    })
    await begun.promise
    const path = `/users/ada/events?${name}=0`
    const before = (await ids(forge.ada, path)).length
    await forge.ada.owns(`mill-${encodeURIComponent(name).replaceAll('%', '-')}`)
    assert.equal((await ids(forge.ada, path)).length, before)
    finish.resolve()
    await assert.rejects(undone, /undone/)
    await settle(forge)
    assert.equal((await ids(forge.ada, path)).length, before + 1, name)
  }
})

test('`after` on the public timeline obeys its delay', async () => {
  await using forge = await openEngine()
  forge.clock.advance(200_000)
  await forge.ada.owns('mill')
  await settle(forge)
  forge.clock.advance(100_000)
  const first = await ids(forge.nobody, '/events?after=0')
  assert.equal(first.length, 1)
  forge.clock.advance(200_000)
  assert.equal((await ids(forge.nobody, `/events?after=${first[0]}`)).length, 1)
})

const typesOf = (events: { type: string }[]) => events.map(({ type }) => type)

test('a stream sends new events as they happen, and resumes after Last-Event-ID', async () => {
  await using forge = await openEngine()
  const path = '/repos/ada/engine/events'
  await settle(forge)
  await using stream = await listen(forge.nobody, path)
  assert.equal(stream.answer.status, 200)
  assert.match(stream.answer.headers.get('content-type') ?? '', /^text\/event-stream/)
  await forge.ben.put('/user/starred/ada/engine')
  assert.deepEqual(typesOf(await stream.until(1)), ['WatchEvent'])
  await expect(202, await forge.ben.post('/repos/ada/engine/forks'))
  assert.deepEqual(typesOf(await stream.until(2)), ['WatchEvent', 'ForkEvent'])
  const [watch, fork] = stream.messages
  assert.deepEqual([fork?.id, watch?.id], (await ids(forge.nobody, path)).slice(0, 2))
  assert.deepEqual(JSON.parse(watch?.data ?? ''), (await forge.nobody.read(path))[1])
  await using resumed = await listen(forge.nobody, path, watch?.id)
  assert.deepEqual(typesOf(await resumed.until(1)), ['ForkEvent'])
})

test('a stream shows what its caller may see, and ends when the token is revoked', async () => {
  await using forge = await openEngine()
  await forge.ada.owns('secret', { private: true })
  await settle(forge)
  await using own = await listen(forge.ada, '/users/ada/events')
  await using others = await listen(forge.ben, '/users/ada/events')
  await expect(200, await forge.ada.patch('/repos/ada/secret', { private: false }))
  await expect(200, await forge.ada.patch('/repos/ada/secret', { private: true }))
  await forge.ada.put('/user/starred/ada/secret')
  await forge.ada.put('/user/starred/ada/engine')
  assert.deepEqual(typesOf(await own.until(3)), ['PublicEvent', 'WatchEvent', 'WatchEvent'])
  // A viewer that read while the repository was public has seen its PublicEvent.
  const starred = () => others.messages.map(({ data }) => JSON.parse(data)).filter(({ type }) => type === 'WatchEvent')
  for (let n = 0; n < 500 && !starred().length; n++) await sleep(10)
  assert.deepEqual(
    starred().map(({ repo }) => repo.name),
    ['ada/engine'],
  )
  await expect(204, await forge.admin.delete('/admin/users/ada/authorizations'))
  await own.ended
  assert.equal((await forge.nobody.with({ accept: 'text/event-stream' }).get('/repos/ada/secret/events')).status, 404)
})

test('a stream refuses passwords, and other endpoints refuse to stream', async () => {
  await using forge = await openEngine()
  const authorization = `Basic ${btoa("ada:ada's password")}`
  const byPassword = forge.nobody.with({ authorization, accept: 'text/event-stream' })
  assert.equal((await byPassword.get('/users/ada/events')).status, 403)
  assert.equal((await forge.ada.with({ accept: 'text/event-stream' }).get('/user')).status, 415)
})

test('the server stops while streams are open', async () => {
  const forge = await openEngine()
  await using stream = await listen(forge.nobody, '/repos/ada/engine/events')
  await forge[Symbol.asyncDispose]()
  await stream.ended
})
