import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { sql } from '#platform/database.ts'
import { expect, openForge } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { Doubt } from './doubt.ts'

test('deliveries that a sender cannot know of are released, and no others', async () => {
  await using forge = await openForge({ settings: { BELFRY_WEBHOOK_ADDRESSES: 'loopback' } })
  const { db } = forge.belfry
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const config = { url: 'http://127.0.0.1:8099/' }
  const hook = await expect(201, await ada.post('/repos/ada/engine/hooks', { config }))
  const ownersOf = async () =>
    (await db.rows<{ sender: number | null }>(sql`select sender from pending_deliveries where event = 'push' order by id`)).map(
      ({ sender }) => sender,
    )
  const store = (number: number) => sql`
    insert into pending_deliveries (id, hook_id, payload_id, guid, event, redelivery, created_at, ready_at, sender)
    values (${number}, ${hook.id}, 1, gen_random_uuid(), 'push', false, ${db.now}, ${db.now}, 7)`
  const nothing = new Set<number>()
  const doubt = new Doubt({ patience: 20, interval: 0 })

  // A transaction that ends after the first look.
  const begun = Promise.withResolvers<void>()
  const ending = Promise.withResolvers<void>()
  const storing = db.transaction(async (transaction) => {
    await transaction.query(store(1))
    begun.resolve()
    await ending.promise
  })
  await Promise.race([begun.promise, storing])
  doubt.raise()
  for (let round = 0; round < 3; round++) {
    await doubt.settle(db, 7, nothing)
    await sleep(20)
  }
  ending.resolve()
  await storing
  assert.deepEqual(await ownersOf(), [7])
  const settled = (...owners: (number | null)[]) =>
    until(`the owners are ${owners}`, async () => {
      await doubt.settle(db, 7, new Set([4]))
      return isDeepStrictEqual(await ownersOf(), owners)
    })
  await settled(null)

  // A statement that waited in a socket has no transaction yet at the first look.
  doubt.raise()
  await doubt.settle(db, 7, nothing)
  await db.query(store(2))
  await settled(null, null)

  // One that the sender knows, and one that it does not know yet.
  await db.query(store(3))
  const slow = new Doubt({ patience: 60_000, interval: 0 })
  slow.raise()
  for (let round = 0; round < 2; round++) await slow.settle(db, 7, nothing)
  assert.deepEqual(await ownersOf(), [null, null, 7])
  await db.query(store(4))
  doubt.raise()
  await settled(null, null, null, 7)

  // Without a doubt.
  const none = new Doubt({ patience: 0, interval: 0 })
  for (let round = 0; round < 2; round++) await none.settle(db, 7, nothing)
  assert.deepEqual(await ownersOf(), [null, null, null, 7])
})
