import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hook } from '#parts/webhooks/hooks.ts'
import { sql } from '#platform/database.ts'
import { expect, pick } from '#test/forge.ts'
import { hooks, shareEngine } from '#test/hooks.ts'
import { until } from '#test/machine.ts'
import { delivered, hookOn, openReceiver } from '#test/webhooks.ts'

const { forge, db, ada, hookTo, ping } = await shareEngine({ worker: true })

const row = async ({ id }: { id: number }) => (await db.first<Hook>(sql`select * from hooks where id = ${id}`)) as Hook
const waiting = ({ id }: { id: number }) =>
  db.rows<{ ready_at: Date; throttled_at: Date | null }>(
    sql`select ready_at, throttled_at from pending_deliveries where hook_id = ${id} and sender is null order by id`,
  )

const listener = await hookOn(ada, 'repos/ada/engine', 'star')
/** Advances the clock. A delivery to another receiver wakes the sender before its next poll. */
async function pass(seconds: number) {
  forge.clock.advance(seconds * 1000)
  await ping(listener)
}

/** Ten failures in a row: the ping of the new hook and nine more. */
async function exhaust(hook: { id: number; deliveries_url: string }) {
  for (let count = 2; count <= 10; count++) {
    await delivered(ada, hook, count - 1)
    await ping(hook)
  }
  await delivered(ada, hook, 10)
}

test('a failing receiver is throttled for growing pauses, and gets all postponed deliveries when it recovers', async () => {
  let status = 500
  await using bad = await openReceiver((response) => response.writeHead(status).end())
  await using good = await openReceiver()
  const hook = await hookTo(bad.url)
  const other = await hookTo(good.url)
  await exhaust(hook)
  const pause = async () => ((await row(hook)).throttled_until?.getTime() ?? 0) - forge.clock.now().getTime()
  assert.equal(await pause(), 1000)
  const warnings = forge.logged.map((line) => JSON.parse(line)).filter(({ hook_id }) => hook_id === hook.id)
  const { host } = new URL(bad.url)
  assert.deepEqual(pick(warnings, 'level', 'host', 'failures'), [[40, host, 10]])

  const longer = await hookTo(`${good.url}?longer`)
  await delivered(ada, longer, 1)
  const since = forge.clock.now()
  const later = new Date(since.getTime() + 3_600_000)
  await db.query(sql`update hooks set failures = 20, throttled_until = ${later} where id = ${longer.id}`)
  for (const method of ['put', 'delete', 'put', 'delete'] as const)
    await expect(204, await ada[method]('/user/starred/ada/engine'))
  await delivered(ada, other, 5)
  const over = new Date(since.getTime() + 1000)
  for (const [throttled, ready_at] of [
    [hook, over],
    [longer, later],
  ] as const) {
    await until('four wait', async () => (await waiting(throttled)).filter(({ throttled_at }) => throttled_at).length === 4)
    assert.deepEqual(await waiting(throttled), Array(4).fill({ ready_at, throttled_at: since }))
  }
  await expect(204, await ada.delete(`${hooks}/${longer.id}`))
  assert.equal(bad.received.length, 10)

  // One delivery is the trial. It fails too, so the others wait twice as long.
  for (const [trial, after] of [
    [1, 2000],
    [2, 4000],
  ] as const) {
    await pass(after / 2000)
    await delivered(ada, hook, 10 + trial)
    await until('the others wait', async () => (await waiting(hook)).every(({ ready_at }) => ready_at > forge.clock.now()))
    assert.equal(await pause(), after)
    assert.equal((await waiting(hook)).length, 4 - trial)
    assert.equal(bad.received.length, 10 + trial)
  }

  status = 200
  await pass(4)
  const all = await delivered(ada, hook, 14)
  assert.deepEqual(
    pick(all.slice(10), 'status_code', 'throttled_at'),
    [500, 500, 200, 200].map((code) => [code, since.toISOString()]),
  )
  assert.equal(bad.received.length, 14)
  const { failures, throttled_until, active } = await row(hook)
  assert.deepEqual([failures, throttled_until, active], [0, null, true])
  assert.equal((await ada.read(`${hooks}/${hook.id}`)).last_response.status, 'active')

  // The count starts again, so a single failure does not throttle.
  status = 500
  for (const count of [15, 16]) {
    await ping(hook)
    const one = (await delivered(ada, hook, count)).at(-1)
    assert.deepEqual([one.status_code, one.throttled_at], [500, null])
  }
})

test('a pause is at most ten minutes unless Retry-After asks for more', async () => {
  let wish = {}
  await using receiver = await openReceiver((response) => response.writeHead(503, wish).end())
  const hook = await hookTo(receiver.url)
  await delivered(ada, hook)
  let count = 1
  for (const [asked, pause] of [
    [undefined, 600],
    ['30', 600],
    ['1800', 1800],
    ['999999', 3600],
    ['soon', 600],
  ] as const) {
    wish = asked ? { 'retry-after': asked } : {}
    await db.query(sql`update hooks set failures = 40, throttled_until = null where id = ${hook.id}`)
    await ping(hook)
    await delivered(ada, hook, ++count)
    assert.equal((await row(hook)).throttled_until?.getTime(), forge.clock.now().getTime() + pause * 1000)
  }
})

test('a receiver that responds 4xx is up and is never throttled', async () => {
  await using receiver = await openReceiver((response) => response.writeHead(404).end())
  const hook = await hookTo(receiver.url)
  for (let count = 1; count <= 12; count++) await ping(hook)
  const all = await delivered(ada, hook, 13)
  assert.ok(all.every(({ status_code, throttled_at }) => status_code === 404 && throttled_at === null))
  assert.equal((await row(hook)).failures, 0)
})
