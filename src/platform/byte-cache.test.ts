import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ByteCache } from './byte-cache.ts'

test('the least recently used value is evicted first, and no bytes are counted twice', () => {
  const cache = new ByteCache<string>(100)
  cache.set('a', 'A', 40)
  cache.set('b', 'B', 40)
  assert.equal(cache.get('a'), 'A')
  cache.set('c', 'C', 40)
  assert.deepEqual([cache.get('a'), cache.get('b'), cache.get('c'), cache.bytes], ['A', undefined, 'C', 80])
  cache.set('a', 'A2', 10)
  assert.deepEqual([cache.get('a'), cache.bytes], ['A2', 50])
  cache.set('d', 'D', 101)
  assert.deepEqual([cache.get('d'), cache.bytes], [undefined, 0])
})
