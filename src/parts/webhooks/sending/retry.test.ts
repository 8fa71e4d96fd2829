import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect, pick } from '#test/forge.ts'
import { hooks, shareEngine } from '#test/hooks.ts'
import { delivered, hookOn, openReceiver, storeTooLarge } from '#test/webhooks.ts'

const { forge, db, ada, hookTo, ping } = await shareEngine({ worker: true, settings: { BELFRY_WEBHOOK_RETRIES: '3' } })
const listener = await hookOn(ada, 'repos/ada/engine', 'star')

/** Seconds until the pending delivery of a hook is retried; undefined if there is none. */
async function pause({ id }: { id: number }) {
  const [row, ...others] = await db.rows<{ ready_at: Date }>(sql`select ready_at from pending_deliveries where hook_id = ${id}`)
  assert.equal(others.length, 0)
  return row && (row.ready_at.getTime() - forge.clock.now().getTime()) / 1000
}

/** A delivery to another receiver wakes the sender before its next poll. */
async function pass(seconds: number) {
  forge.clock.advance(Math.round(seconds * 1000))
  await ping(listener)
}

test('a failed delivery is retried with growing pauses and the same guid, a limited number of times', async () => {
  await using receiver = await openReceiver((response) => response.writeHead(500).end())
  const hook = await hookTo(receiver.url, { secret: 's' })
  for (const [count, least, most] of [
    [1, 5, 10],
    [2, 20, 40],
    [3, 80, 160],
  ] as const) {
    await delivered(ada, hook, count)
    const seconds = (await pause(hook)) ?? 0
    assert.ok(seconds >= least && seconds <= most, `${seconds} seconds`)
    await pass(seconds - 0.001)
    assert.equal(receiver.received.length, count)
    await pass(0.002)
  }
  const all = await delivered(ada, hook, 4)
  assert.equal(await pause(hook), undefined)
  assert.deepEqual(pick(all, 'redelivery', 'status_code'), [
    [false, 500],
    [true, 500],
    [true, 500],
    [true, 500],
  ])
  assert.equal(new Set(all.map(({ id }) => id)).size, 4)
  assert.equal(new Set(all.map(({ guid }) => guid)).size, 1)
  const sent = receiver.received.map(({ headers, body }) => [
    headers['x-github-delivery'],
    headers['x-hub-signature-256'],
    `${body}`,
  ])
  assert.deepEqual(sent, Array(4).fill(sent[0]))
  // A receiver that refuses old timestamps sees a new signature.
  assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-timestamp'])).size, 4)
})

test('a retry respects Retry-After, up to an hour', async () => {
  const date = 'Thu, 01 Jan 1970 00:00:00 GMT'
  for (const [wish, seconds] of [
    ['300', 300],
    ['86400', 3600],
    // A date by the receiver's clock.
    ['Thu, 01 Jan 1970 00:05:00 GMT', 300],
  ] as const) {
    await using receiver = await openReceiver((response) => response.writeHead(503, { 'retry-after': wish, date }).end())
    const hook = await hookTo(receiver.url, { secret: 's' })
    await delivered(ada, hook)
    assert.equal(await pause(hook), seconds)
    await expect(204, await ada.delete(`${hooks}/${hook.id}`))
  }
})

test('there is no retry after a success, after 410, or of a payload that is too large', async () => {
  let status = 502
  await using receiver = await openReceiver((response) => response.writeHead(status).end())
  const hook = await hookTo(receiver.url, { secret: 's' })
  await delivered(ada, hook)
  status = 204
  await pass(10)
  assert.deepEqual(pick(await delivered(ada, hook, 2), 'status_code'), [502, 204])
  assert.equal(await pause(hook), undefined)
  status = 410
  await ping(hook)
  await delivered(ada, hook, 3)
  assert.equal(await pause(hook), undefined)
  await storeTooLarge(forge, hook)
  assert.equal((await delivered(ada, hook, 4)).at(-1).status_code, 413)
  assert.equal(await pause(hook), undefined)
  assert.equal(receiver.received.length, 3)
})
