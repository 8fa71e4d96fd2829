import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { sql } from '#platform/database.ts'
import { expect, openForge } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { Doubt } from './doubt.ts'

test('a delivery that appears after it was first released is released, too', async () => {
  await using forge = await openForge({ settings: { BELFRY_WEBHOOK_ADDRESSES: 'loopback' } })
  const { db } = forge.belfry
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const config = { url: 'http://127.0.0.1:8099/' }
  const hook = await expect(201, await ada.post('/repos/ada/engine/hooks', { config }))
  const ownersOf = async () =>
    (await db.rows<{ sender: number | null }>(sql`select sender from pending_deliveries where event = 'push'`)).map(
      ({ sender }) => sender,
    )
  const store = (number: number) => sql`
    insert into pending_deliveries (id, hook_id, payload_id, guid, event, redelivery, created_at, ready_at, sender)
    values (${number}, ${hook.id}, 1, gen_random_uuid(), 'push', false, ${db.now}, ${db.now}, 7)`
  const doubt = new Doubt(0)

  const begun = Promise.withResolvers<void>()
  const ending = Promise.withResolvers<void>()
  const storing = db.transaction(async (transaction) => {
    await transaction.query(store(1))
    begun.resolve()
    await ending.promise
  })
  await Promise.race([begun.promise, storing])
  doubt.raise()
  for (let round = 0; round < 2; round++) await doubt.settle(db, 7)
  ending.resolve()
  await storing
  assert.deepEqual(await ownersOf(), [7])
  await doubt.settle(db, 7)
  assert.deepEqual(await ownersOf(), [null])

  // Without a doubt nothing is released.
  await db.query(store(2))
  await doubt.settle(db, 7)
  assert.deepEqual((await ownersOf()).sort(), [7, null])

  // A statement that waited in a socket has no transaction yet when the deliveries are first released.
  const lasting = new Doubt(50)
  lasting.raise()
  await lasting.settle(db, 7)
  await db.query(store(3))
  await until('it is released', async () => {
    await lasting.settle(db, 7)
    return isDeepStrictEqual(await ownersOf(), [null, null, null])
  })
})
