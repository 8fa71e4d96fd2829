import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { fillDeliveries } from '#test/deliveries.ts'
import { expect, openForge, pick } from '#test/forge.ts'
import { hookOn } from '#test/webhooks.ts'
import { forgetDeliveries } from './retention.ts'

const day = 86_400_000

test('partitions are dropped after thirty days unless a pending delivery needs them, and the next day is created in advance', async () => {
  await using forge = await openForge({ own_database: true })
  const { db } = forge.belfry
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const hook = await hookOn(ada, 'repos/ada/engine', 'push')
  const path = `/repos/ada/engine/hooks/${hook.id}/deliveries`
  await db.query(sql`delete from pending_deliveries`)
  const today = Math.floor(forge.clock.now().getTime() / day) - 18_262
  const kept = async (table: string) =>
    (
      await db.rows<{ name: string }>(
        sql`select inhrelid::regclass::text as name from pg_inherits where inhparent = ${table}::regclass`,
      )
    )
      .map(({ name }) => Number(name.slice(table.length + 1)) - today)
      .sort((a, b) => a - b)
  const days = async (expected: number[]) => {
    await forgetDeliveries(db)
    assert.deepEqual([await kept('deliveries'), await kept('payloads')], [expected, expected])
  }
  const [first] = await fillDeliveries(forge, hook, [200])
  await days([0, 1])
  forge.clock.advance(day)
  const [second = 0] = await fillDeliveries(forge, hook, [200])
  forge.clock.advance(day)
  const [third = 0] = await fillDeliveries(forge, hook, [200])
  await days([0, 1, 2, 3])
  // A redelivery of the second does not extend the life of its day.
  await expect(202, await ada.post(`${path}/${second}/attempts`))
  forge.clock.advance(28 * day)
  await days([0, 1, 2, 3, 31])
  forge.clock.advance(day)
  await days([1, 2, 3, 31, 32])
  await expect(404, await ada.get(`${path}/${first}`))
  await expect(200, await ada.get(`${path}/${second}`))
  assert.deepEqual(pick(await ada.read(path), 'id'), [third, second])
  // The third day is first needed for an outcome, then only for the payload of a pending delivery.
  await db.query(sql`update pending_deliveries set payload_id = delivery_id(${db.now})`)
  forge.clock.advance(2 * day)
  await days([2, 3, 31, 32, 34])
  await db.query(
    sql`update pending_deliveries set id = delivery_id(${db.now}), payload_id = (select payload_id from deliveries where id = ${third})`,
  )
  await days([2, 3, 31, 32, 34])
  await db.query(sql`delete from pending_deliveries`)
  await days([3, 31, 32, 34])
  assert.deepEqual(await ada.read(path), [])
})
