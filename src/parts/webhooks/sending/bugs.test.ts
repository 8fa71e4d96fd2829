import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect, openForge, pick } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { delivered, openReceiver } from '#test/webhooks.ts'

const settings = { BELFRY_WEBHOOK_ADDRESSES: '127.0.0.1' }
const hooks = '/repos/ada/engine/hooks'
const [debug, error] = [20, 50]

interface Line {
  level: number
  msg: string
  hook?: number
  err?: { stack?: string }
}

/** Lines about webhooks at a level. */
const linesAt = (logged: string[], level: number, message: RegExp) =>
  logged.map((line): Line => JSON.parse(line)).filter((line) => line.level === level && message.test(line.msg))

test('a bug in a loop of the sender is logged at error with its stack, and the loop goes on', async () => {
  await using receiver = await openReceiver()
  await using forge = await openForge({ own_database: true, worker: true, settings })
  const { db } = forge.belfry
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const hook = await expect(201, await ada.post(hooks, { config: { url: receiver.url }, events: ['star'] }))
  await delivered(ada, hook)
  // From now on each attempt to claim or to record a delivery fails.
  await db.query(sql`create function fail() returns trigger language plpgsql as $$ begin raise 'a broken row'; end $$`)
  await db.query(sql`create trigger fail before update or delete on pending_deliveries execute function fail()`)
  await db.query(sql`
    insert into pending_deliveries (id, hook_id, payload_id, guid, event, redelivery, created_at, ready_at)
    select delivery_id(${db.now}), hook_id, payload_id, gen_random_uuid(), event, true, ${db.now}, ${db.now} from deliveries`)
  const claims = () => linesAt(forge.logged, error, /could not be claimed/)
  await until('the failed claim is logged', () => claims().length > 0)
  assert.match(claims()[0]?.err?.stack ?? '', /a broken row[\s\S]*\n\s+at /)

  await expect(204, await ada.put('/user/starred/ada/engine'))
  await receiver.first(2)
  await until('the failed recording is logged', () => linesAt(forge.logged, error, /could not be recorded/).length > 0)
  assert.deepEqual(linesAt(forge.logged, debug, /could not be (claimed|recorded)/), [])

  await db.query(sql`drop trigger fail on pending_deliveries`)
  await until('everything is delivered and recorded', async () => {
    const [row] = await db.rows<{ left: number }>(sql`select count(*) as left from pending_deliveries`)
    return row?.left === 0
  })
  assert.equal(receiver.received.length, 3)
})

test('a delivery that cannot be signed is logged once at error, and others go on', async () => {
  await using receiver = await openReceiver()
  await using forge = await openForge({ worker: true, settings })
  const { db } = forge.belfry
  const ada = await forge.person('ada')
  await ada.owns('engine')
  const config = { url: `${receiver.url}broken`, secret: 'a secret' }
  const broken = await expect(201, await ada.post(hooks, { config, events: ['star'], active: false }))
  await expect(201, await ada.post(hooks, { config: { url: receiver.url }, events: ['star'] }))
  await db.query(sql`update hooks set secret = '\\x00', active = true where id = ${broken.id}`)
  await receiver.first(1)
  await expect(204, await ada.put('/user/starred/ada/engine'))
  await receiver.first(2)
  const lines = () => linesAt(forge.logged, error, /could not be sent/)
  await until('the failure is logged', () => lines().length > 0)
  await expect(204, await ada.delete('/user/starred/ada/engine'))
  await receiver.first(3)
  await until('the failure of the next delivery is logged', () => lines().length === 2)
  assert.ok(lines().every(({ hook, err }) => hook === broken.id && /\n\s+at /.test(err?.stack ?? '')))
  const waiting = await db.rows<{ hook_id: number }>(sql`select hook_id from pending_deliveries where sender is null`)
  assert.deepEqual(pick(waiting, 'hook_id'), [broken.id, broken.id])
})
