import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fanOut } from '#parts/notifications/fan-out.ts'
import { sql } from '#platform/database.ts'
import { until } from '#test/machine.ts'
import { act, type Conversation, openConversations, threadOf } from './conversations.ts'
import { marks } from './races.ts'

test('a mark during a fan-out does not wait, and the updates stay unread', async () => {
  await using forge = await openConversations(3)
  const { belfry, conversations } = forge
  const [first, gate, last] = conversations as [Conversation, Conversation, Conversation]
  // All three participate in the first conversation, in this order, and the thread of the second is locked.
  const people = conversations.map(({ reader_id }) => reader_id)
  await act(forge, first, { act: 'assigned', people })
  await fanOut(belfry.db, first.subject_id)
  const threads = await belfry.db.rows<{ id: string; user_id: number }>(sql`
    select id::text, user_id from threads where subject_id = ${first.subject_id}`)
  const threadFor = ({ reader_id }: Conversation) => threads.find(({ user_id }) => user_id === reader_id)?.id ?? assert.fail()
  for (const mark of marks) {
    await act(forge, first, { act: 'assigned', people })
    let telling = Promise.resolve()
    await belfry.db.transaction(async (transaction) => {
      await transaction.query(sql`select from threads where id = ${threadFor(gate)} for update`)
      telling = fanOut(belfry.db, first.subject_id)
      await until('it is in the middle of telling', async () => {
        const { rowCount } = await belfry.db.query(sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
        return rowCount === 1
      })
      for (const conversation of [first, last]) assert.ok((await mark(conversation.reader, threadFor(conversation))).ok)
    })
    await telling
    for (const conversation of conversations) {
      const row = await threadOf(forge, { thread: threadFor(conversation) })
      assert.deepEqual([row.unread, row.done], [true, false], conversation.reader.login)
    }
  }
})
