import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openForge } from '#test/forge.ts'
import { PayloadCache } from './payload-cache.ts'

// No row of `payloads` has these ids, so only the cache can know them.
const [busy, other] = [-1, -2]
const body = 'x'.repeat(200_000)

async function openCache() {
  const forge = await openForge()
  const cache = new PayloadCache(forge.belfry.db, () => forge.web)
  const wanted = () => true
  const isCached = (id: number) => cache.use(id, wanted, async (payload) => payload?.bytes('json').length === body.length)
  return Object.assign(forge, { cache, isCached })
}

test('a payload that is added again counts once', async () => {
  await using forge = await openCache()
  forge.cache.add(other, body)
  for (let n = 0; n < 200; n++) forge.cache.add(busy, body)
  assert.equal(await forge.isCached(other), true)
  assert.equal(await forge.isCached(busy), true)
})

test('the least recently used payloads leave when the cache is full', async () => {
  await using forge = await openCache()
  forge.cache.add(busy, body)
  forge.cache.add(other, body)
  for (let n = 3; n < 100; n++) {
    forge.cache.add(-n, body)
    assert.equal(await forge.isCached(busy), true)
  }
  assert.equal(await forge.isCached(other), false)
})
