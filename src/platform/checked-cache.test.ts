import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openForge } from '#test/forge.ts'
import { CheckedCache } from './checked-cache.ts'
import { sql } from './database.ts'
import type { Topic } from './topics.ts'

/** A cache, and a load that counts how often it was called. */
async function openCache() {
  const forge = await openForge()
  const { db } = forge.belfry
  const cache = new CheckedCache<number>(db, 1_000_000)
  let loads = 0
  return {
    get: (topics: Topic[] | undefined) => cache.getOrLoad('key', async () => ({ value: ++loads, topics, bytes: 8 })),
    peek: () => cache.peek('key'),
    touch: (topic: Topic) => db.transaction((transaction) => transaction.query(sql`select touch_topics(array[${topic}])`)),
    [Symbol.asyncDispose]: () => forge[Symbol.asyncDispose](),
  }
}

test('a value is kept until one of its topics changes', async () => {
  await using cache = await openCache()
  assert.equal(await cache.get(['r1', 'w']), 1)
  await cache.touch('r2')
  assert.equal(cache.peek(), undefined)
  assert.equal(await cache.get(['r1', 'w']), 1)
  await cache.touch('r1')
  assert.equal(await cache.get(['r1', 'w']), 2)
  assert.equal(await cache.get(['r1', 'w']), 2)
})

test('a value whose topics are not known is loaded after any commit, and checked once they are known', async () => {
  await using cache = await openCache()
  assert.equal(await cache.get(undefined), 1)
  await cache.touch('r2')
  assert.equal(await cache.get(['r1']), 2)
  assert.equal(await cache.get(['r1']), 3)
  await cache.touch('r2')
  assert.equal(await cache.get(['r1']), 3)
})

test('a change that is committed while a value is loaded is not missed', async () => {
  await using forge = await openForge()
  const { db } = forge.belfry
  const cache = new CheckedCache<string>(db, 1_000_000)
  const touch = () => db.transaction((transaction) => transaction.query(sql`select touch_topics(array['r1'])`))
  const load = async (value: string, during: () => Promise<unknown>) => {
    await during()
    return { value, topics: ['r1'] as const, bytes: 8 }
  }
  assert.equal(await cache.getOrLoad('key', () => load('old', touch)), 'old')
  assert.equal(await cache.getOrLoad('key', () => load('new', async () => {})), 'new')
})
