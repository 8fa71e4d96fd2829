import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect } from '#test/forge.ts'
import { hooks, shareEngine } from '#test/hooks.ts'
import { until } from '#test/machine.ts'
import { delivered, hookOn, openReceiver, openSocketReceiver } from '#test/webhooks.ts'
import { openSender } from './jobs.ts'

const { forge, db, ada, hookTo } = await shareEngine()

/** Stars and unstars so many times in total. */
async function act(times: number) {
  for (let done = 0; done < times; done += 2) {
    await expect(204, await ada.put('/user/starred/ada/engine'))
    await expect(204, await ada.delete('/user/starred/ada/engine'))
  }
}

test('a stop sends nothing twice and loses nothing', async () => {
  // The receiver responds when the test says so.
  const unanswered: (() => void)[] = []
  let answers = false
  await using receiver = await openReceiver((response) => (answers ? response.end() : unanswered.push(() => response.end())))
  const hook = await hookTo(receiver.url)
  await act(30)
  const first = openSender(forge.belfry)
  await receiver.first(1)
  await act(2)
  // A delivery with its number that it does not know of, as after a lost response.
  const listener = await hookOn(ada, 'repos/ada/engine', 'push')
  await db.query(sql`update pending_deliveries set sender = (select number from senders) where hook_id = ${listener.id}`)
  const stopped = first.stop()
  const released = sql`select from pending_deliveries where hook_id = ${hook.id} and sender is null`
  await until('the queued deliveries are released', async () => (await db.rows(released)).length > 0)
  answers = true
  for (const answer of unanswered) answer()
  await stopped
  const { length: begun } = receiver.received
  assert.ok(begun < 33)
  const held = sql`select hook_id from pending_deliveries where sender is not null`
  assert.deepEqual(await db.rows(held), [{ hook_id: listener.id }])
  assert.equal((await delivered(ada, hook, begun)).length, begun)
  // A transaction that commits a delivery for a sender that has left.
  const late = await hookOn(ada, 'repos/ada/engine', 'push')
  await db.query(sql`update pending_deliveries set sender = 0 where hook_id = ${late.id}`)
  const second = openSender(forge.belfry)
  const all = await delivered(ada, hook, 33)
  // A sender counts as dead after three checks, a second apart.
  await until('the deliveries of the first are released', async () => (await db.rows(held)).length === 0)
  await second.stop()
  assert.deepEqual(await db.rows(held), [])
  assert.deepEqual(await db.rows(sql`select from senders`), [])
  assert.equal(receiver.received.length, 33)
  assert.equal(new Set(receiver.received.map(({ headers }) => headers['x-github-delivery'])).size, 33)
  assert.ok(all.every(({ status, throttled_at }) => status === 'OK' && throttled_at === null))
  await expect(204, await ada.delete(`${hooks}/${hook.id}`))
})

test('two senders share the work and send nothing twice', async () => {
  await using receiver = await openReceiver()
  const hook = await hookTo(receiver.url)
  const senders = [openSender(forge.belfry), openSender(forge.belfry)]
  await act(40)
  await delivered(ada, hook, 41)
  await Promise.all(senders.map((sender) => sender.stop()))
  assert.equal(receiver.received.length, 41)
  assert.equal(new Set(receiver.received.map(({ headers }) => headers['x-github-delivery'])).size, 41)
  await expect(204, await ada.delete(`${hooks}/${hook.id}`))
})

test('a receiver that hangs delays no other receiver', async () => {
  await using good = await openReceiver()
  await using hanging = await openSocketReceiver(() => {})
  const stuck = await hookTo(hanging.url)
  const hook = await hookTo(good.url)
  const sender = openSender(forge.belfry)
  await act(50)
  await delivered(ada, hook, 51)
  // It has as many requests as the limit per hook allows, and the others wait.
  await until('ten are sent', () => hanging.requests >= 10)
  assert.deepEqual([hanging.requests, hanging.connections], [10, 10])
  assert.deepEqual(await ada.read(stuck.deliveries_url), [])
  await hanging[Symbol.asyncDispose]()
  await sender.stop()
  const came = await db.rows<{ count: number }>(sql`
    select count(*) from pending_deliveries where hook_id = ${stuck.id} union all select count(*) from deliveries where hook_id = ${stuck.id}`)
  assert.equal(
    came.reduce((sum, { count }) => sum + count, 0),
    51,
  )
})

test('a delivery that a sender lost track of after a failed statement is released', async () => {
  const sender = openSender(forge.belfry)
  await until('it is there', async () => (await db.rows(sql`select from senders`)).length === 1)
  const listener = await hookOn(ada, 'repos/ada/engine', 'push')
  const { length } = forge.logged
  await db.query(sql`update pending_deliveries set sender = (select number from senders) where hook_id = ${listener.id}`)
  await db.query(sql`alter table pending_deliveries rename to away`)
  try {
    await until('a claim fails', () => forge.logged.slice(length).some((line) => line.includes('could not be claimed')))
  } finally {
    await db.query(sql`alter table away rename to pending_deliveries`)
  }
  const free = sql`select from pending_deliveries where hook_id = ${listener.id} and sender is null`
  await until('it is released', async () => (await db.rows(free)).length === 1)
  await sender.stop()
})
