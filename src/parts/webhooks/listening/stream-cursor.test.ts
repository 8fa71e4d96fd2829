import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadHook } from '#parts/webhooks/hooks.ts'
import { type Outcome, recordOutcomes } from '#parts/webhooks/sending/outcomes.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'
import { expect, type Forge, openForge, pick } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { listen } from '#test/streams.ts'
import { followDeliveries } from './delivery-stream.ts'

const url = 'https://ci.example/'
const config = { url, content_type: 'json', secret: 'it is between us' }

/** A repository with two hooks, without a sender. The test records outcomes itself. */
async function openWaiting() {
  const forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  const { id: repo_id } = await ada.owns('engine')
  const hooks: number[] = []
  for (const path of ['one', 'other']) {
    const made = { config: { ...config, url: `${url}${path}` }, events: ['star'] }
    hooks.push((await expect(201, await ada.post('/repos/ada/engine/hooks', made))).id)
  }
  const [hook = 0] = hooks
  // The pings would have the lowest ids.
  await forge.belfry.db.query(sql`delete from pending_deliveries`)
  let stars = false
  return Object.assign(forge, {
    ada,
    repo_id: repo_id as number,
    hook,
    path: `/repos/ada/engine/hooks/${hook}/deliveries/stream`,
    record: (id: number) => recordOutcomes(forge.belfry.db, [outcomeOf(hook, id, forge.clock.now())]),
    /** Creates a delivery whose id is far from the last one, and returns its id. */
    async act() {
      await forge.belfry.db.query(sql`select setval('delivery_numbers', nextval('delivery_numbers') + 5000)`)
      stars = !stars
      await expect(204, await (stars ? ben.put : ben.delete)('/user/starred/ada/engine'))
      return lastWaiting(forge, hook)
    },
  })
}

async function lastWaiting({ belfry }: Forge, hook: number) {
  const row = await belfry.db.first<{ id: number }>(sql`select max(id) as id from pending_deliveries where hook_id = ${hook}`)
  return row?.id ?? 0
}

const outcomeOf = (hook_id: number, id: number, now: Date): Outcome => ({
  ...{ id, hook_id, url, delivered_at: now, duration: 0.5, status: 'OK', status_code: 200 },
  ...{ request_headers: { 'content-type': 'application/json' }, response_headers: { a: 'b' }, response_body: 'ok' },
  ...{ retry_in: null, retry_after: null },
})

/** Runs `work` in a transaction and returns the function that commits it. */
async function hold(db: Database, work: (transaction: Transaction) => Promise<unknown>) {
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const done = db.transaction(async (transaction) => {
    await work(transaction)
    begun.resolve()
    await end.promise
  })
  await Promise.race([begun.promise, done])
  return () => {
    end.resolve()
    return done
  }
}

/** Long enough for several reads of the stream. */
const moment = () => sleep(200)

test('for any other hook, each delivery is streamed once, when its outcome is recorded, in any order', async () => {
  await using forge = await openWaiting()
  const { belfry, path, ada, act, record } = forge
  const { db } = belfry
  const before = await act()
  await record(before)
  const waiting = [await act(), await act(), await act()]
  await using stream = await listen(ada, path)
  const told = async (count: number) => (await stream.until(count)).map(({ id }) => id)
  const [first = 0, second = 0, third = 0] = waiting

  await record(third)
  assert.deepEqual(await told(1), [third], 'only what is recorded from now on')
  const [message] = await stream.until(1)
  assert.deepEqual(message.outcome, {
    ...{ delivered_at: db.now.toISOString(), duration: 0.5, status: 'OK', status_code: 200 },
    response: { headers: { a: 'b' }, payload: 'ok' },
  })
  assert.deepEqual([message.url, message.headers['X-GitHub-Event'], JSON.parse(message.body).action], [url, 'star', 'deleted'])
  await moment()
  // Days later, after thousands of other ids: for example because it was throttled.
  forge.clock.advance(3 * 86_400_000)
  const fourth = await act()
  await record(fourth)
  await told(2)
  await moment()
  await record(first)
  assert.deepEqual(await told(3), [third, fourth, first])

  await using again = await listen(ada, path, stream.messages[0]?.id)
  await again.until(2)
  await record(second)
  assert.deepEqual(await told(4), [third, fourth, first, second])
  assert.deepEqual(pick(await again.until(3), 'id'), [fourth, first, second])
  await moment()
  assert.deepEqual([stream.messages.length, again.messages.length], [4, 3])
})

test('a row that is written first and committed last is neither skipped nor sent twice', async () => {
  await using forge = await openWaiting()
  const { belfry, path, ada, act, record } = forge
  const { db } = belfry
  const [early, late] = [await act(), await act()]
  await using stream = await listen(ada, path)
  const told = async (count: number) => (await stream.until(count)).map(({ id }) => id)

  // Without the update of the hook's row, because others would wait for its lock.
  const commit = await hold(db, (transaction) =>
    transaction.query(sql`
      with done as (delete from pending_deliveries where id = ${early} returning *)
      insert into deliveries (id, hook_id, payload_id, repo_id, guid, event, action, redelivery, delivered_at, duration, status, status_code, url,
        request_headers)
      select id, hook_id, payload_id, repo_id, guid, event, action, redelivery, ${db.now}, 0.5, 'OK', 200, ${url}, '{}' from done`),
  )
  await record(late)
  await moment()
  assert.equal(stream.messages.length, 0, 'nobody knows yet whether something comes before')
  await commit()
  assert.deepEqual(await told(2), [early, late])

  await moment()
  assert.equal(stream.messages.length, 2)
})

test('a delivery that is committed and sent between two reads, long after it got its id, is not skipped', async () => {
  await using forge = await openWaiting()
  const { belfry, hook, act, record } = forge
  const { db, vault } = belfry
  let place: string | null = null
  /** One read of the stream, so that the test controls what happens between two of them. */
  const look = async () => {
    const repo = { type: 'repository', id: forge.repo_id, path: 'repos/ada/engine' } as const
    const heard = await followDeliveries(db, { vault, agent: '', web: forge.web }, await loadHook(db, repo, hook), place)
    place = heard.bookmark
    return heard.news.map(({ data }) => data.id)
  }
  const told: number[] = []
  const toldInAll = (count: number) =>
    until(`${count} are told`, async () => {
      told.push(...(await look()))
      return told.length >= count
    })
  await look()
  const first = await act()
  await record(first)
  await toldInAll(1)
  let tardy = 0
  const commit = await hold(db, async (transaction) => {
    const row = await transaction.first<{ id: number }>(sql`
      insert into pending_deliveries (id, hook_id, payload_id, repo_id, guid, event, action, redelivery, created_at, ready_at)
      select delivery_id(${db.now}), hook_id, payload_id, repo_id, gen_random_uuid(), event, action, true, ${db.now}, ${db.now}
      from deliveries where id = ${first} returning id`)
    tardy = row?.id ?? 0
  })
  const later = await act()
  for (let looks = 0; looks < 5; looks++) told.push(...(await look()))
  await commit()
  await record(tardy)
  await record(later)
  await toldInAll(3)

  // Recorded and visible, but not sent yet, because an earlier transaction is still open.
  const [seen, beyond] = [await act(), await act()]
  for (let looks = 0; looks < 5; looks++) told.push(...(await look()))
  const end = await hold(db, (transaction) => transaction.query(sql`select pg_current_xact_id()`))
  await record(seen)
  for (let looks = 0; looks < 5; looks++) told.push(...(await look()))
  assert.equal(told.length, 3)
  await end()
  await toldInAll(4)
  assert.ok(beyond > seen)
  for (let looks = 0; looks < 5; looks++) told.push(...(await look()))
  assert.deepEqual(told, [first, tardy, later, seen])
})

test('many deliveries are streamed in order and completely, also to a client that reconnects in between', async () => {
  await using forge = await openWaiting()
  const { belfry, hook, path, ada, act } = forge
  const { db } = belfry
  const model = await act()
  await using stream = await listen(ada, path)
  const rows = await db.rows<{ id: number }>(sql`
    insert into pending_deliveries (id, hook_id, payload_id, repo_id, guid, event, action, redelivery, created_at, ready_at)
    select delivery_id(${db.now}), hook_id, payload_id, repo_id, gen_random_uuid(), event, action, true, ${db.now}, ${db.now}
    from pending_deliveries, generate_series(1, 450) where id = ${model} returning id`)
  const ids = rows.map(({ id }) => id).sort((a, b) => a - b)
  await recordOutcomes(
    db,
    ids.map((id) => outcomeOf(hook, id, db.now)),
  )
  assert.deepEqual(pick(await stream.until(450), 'id'), ids)
  await using again = await listen(ada, path, stream.messages[130]?.id)
  assert.deepEqual(pick(await again.until(319), 'id'), ids.slice(131))
  await moment()
  assert.deepEqual([stream.messages.length, again.messages.length], [450, 319])
})
