import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect } from '#test/forge.ts'
import { openGuild } from '#test/guild.ts'
import { fillInbox, told } from '#test/inbox.ts'

const day = 86_400_000

test('threads without updates for five months are deleted; ignored ones stay ignored', async () => {
  await using forge = await openGuild()
  const { ben, cy, clock } = forge
  const { db } = forge.belfry
  const place = await forge.place()
  const prune = async () => {
    await db.transaction((transaction) => transaction.query(sql`select graphile_worker.add_job('prune_threads')`))
    await told(forge)
  }
  const old = await place.open(cy, { title: 'Old', body: '@ben' })
  const ignored = await place.open(cy, { title: 'Ignored', body: '@ben' })
  await told(forge)
  for (const { id, subject } of await ben.read('/notifications')) {
    if (subject.title === 'Ignored')
      await expect(200, await ben.put(`/notifications/threads/${id}/subscription`, { ignored: true }))
  }
  clock.advance(100 * day)
  await place.open(cy, { title: 'Young', body: '@ben' })
  // From 3 February to 3 July.
  clock.advance(50 * day - 1000)
  await prune()
  assert.deepEqual((await place.inbox(ben)).toSorted(), ['Ignored: mention', 'Old: mention', 'Young: mention'])
  clock.advance(1001)
  await prune()
  assert.deepEqual(await place.inbox(ben), ['Young: mention'])
  const [notices] = await db.rows<{ total: number }>(sql`select count(*) as total from notification_events`)
  assert.equal(notices?.total, 1)
  await place.say(cy, ignored)
  assert.deepEqual(await place.inbox(ben), ['Young: mention'])
  await place.say(cy, old)
  assert.deepEqual(await place.inbox(ben), ['Old: mention', 'Young: mention'])
})

test('any number of old threads is deleted in one run', async () => {
  await using forge = await openGuild()
  const { db } = forge.belfry
  const place = await forge.place()
  await fillInbox(forge, forge.ben, place, 11_000)
  forge.clock.advance(160 * day)
  await db.transaction((transaction) => transaction.query(sql`select graphile_worker.add_job('prune_threads')`))
  await told(forge)
  assert.equal((await db.rows(sql`select from threads`)).length, 0)
})

test('the snapshot of a list is deleted after thirty days, and stored again when the list is read', async () => {
  await using forge = await openGuild()
  const { ben, cy, clock } = forge
  const { db } = forge.belfry
  const place = await forge.place()
  const stored = async () => (await db.rows(sql`select snapshot from list_snapshots`)).length
  const prune = async () => {
    await db.transaction((transaction) => transaction.query(sql`select graphile_worker.add_job('prune_threads')`))
    await told(forge)
  }
  await place.open(cy, { body: '@ben' })
  await told(forge)
  await ben.read('/notifications')
  clock.advance(30 * day)
  await prune()
  assert.equal(await stored(), 1)
  clock.advance(1)
  await prune()
  assert.equal(await stored(), 0)
  await ben.read('/notifications')
  assert.equal(await stored(), 1)
})
