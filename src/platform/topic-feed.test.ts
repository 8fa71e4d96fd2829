import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openForge } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { type Sql, sql } from './database.ts'
import { TopicFeed } from './topic-feed.ts'
import type { Topic } from './topics.ts'

/** A feed that counts its reads, and the topics whose subscribers were called since it was last asked. */
async function openFeed(topics: Topic[]) {
  const forge = await openForge()
  const { db, log } = forge.belfry
  let reads = 0
  const read = db.genericPlanRows.bind(db)
  db.genericPlanRows = (statement: Sql) => {
    if (statement.text.includes('topic_changes')) reads++
    return read(statement)
  }
  const feed = new TopicFeed(db, log)
  const called = new Set<Topic>()
  const ends = topics.map((topic) => feed.subscribe([topic, 'w'], () => called.add(topic)))
  await until('all are called once, because nothing is known of the time before', () => called.size === topics.length)
  called.clear()
  return {
    db,
    called,
    ends,
    reads: () => reads,
    touch: (...touched: Topic[]) =>
      db.transaction((transaction) => transaction.query(sql`select touch_topics(${touched}::text[])`)),
    // The next test may get the same database.
    async [Symbol.asyncDispose]() {
      for (const end of ends) end()
      db.genericPlanRows = read
      await forge[Symbol.asyncDispose]()
    },
  }
}

test('a subscriber is called when one of its topics changes, and not otherwise', async () => {
  await using feed = await openFeed(['r1', 'r2', 'r3'])
  await feed.touch('r2')
  await until('its subscriber is called', () => feed.called.has('r2'))
  await feed.touch('r9', 'r3')
  await until('its subscriber is called', () => feed.called.has('r3'))
  assert.deepEqual([...feed.called], ['r2', 'r3'])
  feed.ends.shift()?.()
  feed.called.clear()
  await feed.touch('w')
  await until('those that are left are called', () => feed.called.size === 2)
  assert.deepEqual([...feed.called].sort(), ['r2', 'r3'])
})

test('one read serves all subscribers, and without any there is none', async () => {
  await using feed = await openFeed(Array.from({ length: 10_000 }, (_, index): Topic => `r${index}`))
  const before = feed.reads()
  await feed.touch('r77')
  await until('its subscriber is called', () => feed.called.size > 0)
  assert.deepEqual([...feed.called], ['r77'])
  assert.ok(feed.reads() - before <= 3, `${feed.reads() - before} reads`)
  for (const end of feed.ends.splice(0)) end()
  const after = feed.reads()
  await feed.touch('r78')
  await feed.db.query(sql`select pg_sleep(0.05)`)
  assert.equal(feed.reads(), after)
})

test('a change of a transaction that began before the last read and is committed after it is not missed', async () => {
  await using feed = await openFeed(['r1', 'r2'])
  const slow = await feed.db.connect()
  try {
    await slow.query("begin; select touch_topics(array['r1'])")
    await feed.touch('r2')
    await until('the later one is reported', () => feed.called.has('r2'))
    await slow.query('commit')
    feed.db.notifyTransactionEnd('committed elsewhere')
    await until('the earlier one is reported', () => feed.called.has('r1'))
  } finally {
    slow.release()
  }
})
