import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fanOut } from '#parts/notifications/fan-out.ts'
import { sql } from '#platform/database.ts'
import { expect } from '#test/forge.ts'
import { act, type Conversation, engine, noticesOf, openConversations, threadOf } from './conversations.ts'

test('a failed fan-out is repeated by the next event of the subject', async () => {
  await using forge = await openConversations(1)
  const { db } = forge.belfry
  const [conversation] = forge.conversations as [Conversation]
  const jobs = () =>
    db.rows<{ waits: boolean }>(sql`select run_at > now() as waits from graphile_worker.jobs where key like 'tell %'`)
  await act(forge, conversation, { act: 'commented' })
  await db.query(sql`update graphile_worker._private_jobs set attempts = 9, run_at = now() + interval '1 day'`)
  assert.deepEqual(await jobs(), [{ waits: true }])
  await act(forge, conversation, { act: 'commented' })
  assert.deepEqual(await jobs(), [{ waits: false }])
})

test('an act notifies a small audience itself, and leaves everything else to the job, in order', async () => {
  await using forge = await openConversations(1)
  const { belfry, ada, conversations } = forge
  const { db } = belfry
  const [conversation] = conversations as [Conversation]
  const say = async (body: string) => {
    await expect(201, await ada.post(`${engine}/issues/${conversation.number}/comments`, { body }))
    const waiting = await db.query(sql`select from notification_events where notified_at is null`)
    return waiting.rowCount
  }
  const checkOrder = async () =>
    assert.deepEqual((await threadOf(forge, conversation)).notice_ids, await noticesOf(db, conversation))
  assert.equal(await say('Yes'), 0)
  await checkOrder()

  assert.equal(await say('Yes, @reader-0'), 1)
  assert.equal(await say('A later act does not overtake it'), 2)
  await fanOut(db, conversation.subject_id)
  await checkOrder()

  await db.transaction(async (other) => {
    await other.query(sql`select from threads where id = ${conversation.thread} for update`)
    assert.equal(await say('Nor does it wait for a locked thread'), 1)
  })
  await fanOut(db, conversation.subject_id)
  await checkOrder()

  await db.query(sql`
    with crowd as (
      insert into accounts (type, login, created_at, updated_at)
      select 'User', 'crowd-' || n, ${db.now}::timestamptz, ${db.now}::timestamptz from generate_series(1, 51) n returning id)
    insert into subscriptions (user_id, repo_id, created_at) select id, ${forge.repo_id}, ${db.now} from crowd`)
  assert.equal(await say('Many watch'), 1)
  await fanOut(db, conversation.subject_id)
  await checkOrder()
  const threads = await db.query(sql`select from threads where subject_id = ${conversation.subject_id}`)
  assert.equal(threads.rowCount, 52)
})
