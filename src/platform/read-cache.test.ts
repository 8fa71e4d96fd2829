import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Memory } from './read-cache.ts'

const db = () => ({ commits: 0, now: new Date(0) })
const bounds = { entries: 100, bytes: 1_000_000, sizeOf: (text: string) => 2 * text.length }

test('what is kept is bounded in bytes and in entries, the oldest goes first', async () => {
  const memory = new Memory<string>(db(), bounds)
  for (let n = 0; n < 500; n++) await memory.recall(`/events?page=${n}`, async () => 'x'.repeat(20_000))
  assert.ok(memory.size.bytes <= bounds.bytes, `${memory.size.bytes} bytes`)
  assert.ok(memory.size.entries >= 20 && memory.size.entries < 25, `${memory.size.entries} entries`)
  assert.equal(memory.peek('/events?page=0'), undefined)
  assert.ok(memory.peek('/events?page=499'))
  for (let n = 0; n < 500; n++) await memory.recall(`small ${n}`, async () => 'x')
  assert.equal(memory.size.entries, bounds.entries)
  // Read again after a change: the former bytes are given back.
  const changing = db()
  const again = new Memory<string>(changing, bounds)
  for (; changing.commits < 10; changing.commits++) await again.recall('same', async () => 'x'.repeat(1000))
  assert.deepEqual(again.size, { entries: 1, bytes: 2508 })
})

test('one value that would drive out the others is not kept, nor is a failure', async () => {
  const memory = new Memory<string>(db(), bounds)
  await memory.recall('small', async () => 'x')
  assert.equal((await memory.recall('large', async () => 'x'.repeat(100_000))).length, 100_000)
  await assert.rejects(
    memory.recall('failed', () => Promise.reject(new Error('no'))),
    /no/,
  )
  assert.deepEqual([memory.peek('small'), memory.peek('large'), memory.peek('failed')], ['x', undefined, undefined])
  assert.deepEqual(memory.size, { entries: 1, bytes: 512 })
})

test('what nobody asks for any more goes by itself', async () => {
  const memory = new Memory<string>(db(), bounds)
  await memory.recall('a', async () => 'x')
  for (let n = 0; n < 100 && memory.size.entries; n++) await sleep(50)
  assert.deepEqual(memory.size, { entries: 0, bytes: 0 })
})
