import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ReadCache } from './read-cache.ts'

const db = () => ({ commits: 0, now: new Date(0) })
const bounds = { entries: 100, bytes: 1_000_000, sizeOf: (text: string) => 2 * text.length }

test('the cache is bounded in bytes and entries, and evicts the oldest first', async () => {
  const cache = new ReadCache<string>(db(), bounds)
  for (let n = 0; n < 500; n++) await cache.getOrLoad(`/events?page=${n}`, async () => 'x'.repeat(20_000))
  assert.ok(cache.size.bytes <= bounds.bytes, `${cache.size.bytes} bytes`)
  assert.ok(cache.size.entries >= 20 && cache.size.entries < 25, `${cache.size.entries} entries`)
  assert.equal(cache.peek('/events?page=0'), undefined)
  assert.ok(cache.peek('/events?page=499'))
  for (let n = 0; n < 500; n++) await cache.getOrLoad(`small ${n}`, async () => 'x')
  assert.equal(cache.size.entries, bounds.entries)
  // Read again after a change: the former bytes are given back.
  const changing = db()
  const again = new ReadCache<string>(changing, bounds)
  for (; changing.commits < 10; changing.commits++) await again.getOrLoad('same', async () => 'x'.repeat(1000))
  assert.deepEqual(again.size, { entries: 1, bytes: 2508 })
})

test('neither a value that would displace the others nor a failure is cached', async () => {
  const cache = new ReadCache<string>(db(), bounds)
  await cache.getOrLoad('small', async () => 'x')
  assert.equal((await cache.getOrLoad('large', async () => 'x'.repeat(100_000))).length, 100_000)
  await assert.rejects(
    cache.getOrLoad('failed', () => Promise.reject(new Error('no'))),
    /no/,
  )
  assert.deepEqual([cache.peek('small'), cache.peek('large'), cache.peek('failed')], ['x', undefined, undefined])
  assert.deepEqual(cache.size, { entries: 1, bytes: 512 })
})

test('expired values are removed without a request', async () => {
  const cache = new ReadCache<string>(db(), bounds)
  await cache.getOrLoad('a', async () => 'x')
  for (let n = 0; n < 100 && cache.size.entries; n++) await sleep(50)
  assert.deepEqual(cache.size, { entries: 0, bytes: 0 })
})
