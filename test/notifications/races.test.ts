import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { notify } from '#activity/notices.ts'
import { fanOut } from '#parts/notifications/fan-out.ts'
import { sql } from '#platform/database.ts'
import { seeded } from '#test/activity/crowd.ts'
import { expect, type Person } from '#test/forge.ts'
import { fillInbox, told } from '#test/inbox.ts'
import { until } from '#test/machine.ts'
import {
  act,
  type Conversation,
  engine,
  findLost,
  inParallel,
  noteMarks,
  noticesOf,
  openConversations,
  threadOf,
} from './conversations.ts'

/** All ways to mark threads. */
const marks: ((reader: Person, thread: string) => Promise<Response>)[] = [
  (reader, thread) => reader.patch(`/notifications/threads/${thread}`),
  (reader) => reader.put('/notifications'),
  (reader) => reader.put(`${engine}/notifications`),
  (reader, thread) => reader.delete(`/notifications/threads/${thread}`),
]

test('a thread that is updated during a mark is read only if the mark saw the update: 1,000 times', async () => {
  await using forge = await openConversations(8, { own_database: true })
  const { belfry, conversations } = forge
  await noteMarks(belfry.db)
  const random = seeded(1)
  const seen = { read: 0, unread: 0 }
  const race = async (conversation: Conversation, round: number) => {
    const { reader, thread, subject_id } = conversation
    const mark = marks[round % marks.length] ?? assert.fail()
    await act(forge, conversation, { act: 'commented' })
    const [first, second] = [random() * 4, random() * 4]
    const order: string[] = []
    const telling = sleep(first).then(async () => {
      order.push('telling')
      await fanOut(belfry.db, subject_id)
      order.push('told')
    })
    const marking = sleep(second).then(async () => {
      order.push('marking')
      assert.ok((await mark(reader, thread)).ok)
      order.push('marked')
    })
    await Promise.all([telling, marking])
    const { unread } = await threadOf(forge, conversation)
    const [last] = order
    if (order[1] === 'marked') assert.equal(unread, true, `marked before it was told, ${last}`)
    if (order[1] === 'told') assert.equal(unread, false, 'told before it was marked')
    assert.deepEqual(await findLost(forge, conversation), [], `round ${round}`)
    seen[unread ? 'unread' : 'read']++
  }
  await inParallel(conversations, 125, race)
  for (const conversation of conversations)
    assert.deepEqual((await threadOf(forge, conversation)).notice_ids, (await noticesOf(belfry.db, conversation)).slice(-100))
  assert.ok(seen.read > 50 && seen.unread > 50, JSON.stringify(seen))
})

test('marking up to the newest time of a list does not mark later updates of that second', async () => {
  await using forge = await openConversations(8, { worker: true })
  const race = async ({ reader, number }: Conversation, round: number) => {
    const [newest] = await reader.read('/notifications?all=true')
    const body = { last_read_at: newest.updated_at }
    const say = () => forge.ada.post(`${engine}/issues/${number}/comments`, { body: 'So it does' })
    const mark = () => reader.put(round % 2 ? '/notifications' : `${engine}/notifications`, body)
    const [said, marked] = await Promise.all(round % 3 ? [say(), mark()] : [mark(), say()])
    assert.ok(said.ok && marked.ok)
  }
  for (let round = 0; round < 25; round++) {
    // Half of the comments come in the same second as the last one.
    forge.clock.advance(round % 2 ? 10 : 500)
    await Promise.all(forge.conversations.map((conversation) => race(conversation, round)))
    await told(forge)
    for (const { reader } of forge.conversations) {
      const [{ unread }, ...more] = await reader.read('/notifications?all=true')
      assert.deepEqual([unread, more], [true, []], `round ${round}`)
    }
  }
  for (const { reader } of forge.conversations) {
    const [{ updated_at }] = await reader.read('/notifications')
    await expect(205, await reader.put('/notifications', { last_read_at: updated_at }))
    assert.deepEqual(await reader.read('/notifications'), [], 'and has read what was in the list')
  }
})

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

test('a thread that is marked as done and as read concurrently is done', async () => {
  await using forge = await openConversations(8)
  const ways = [
    (reader: Person, thread: string) => reader.patch(`/notifications/threads/${thread}`),
    (reader: Person) => reader.put('/notifications'),
  ]
  const race = async (conversation: Conversation, round: number) => {
    const { reader, thread } = conversation
    await act(forge, conversation, { act: 'commented' })
    await fanOut(forge.belfry.db, conversation.subject_id)
    const mark = ways[round % 2] ?? assert.fail()
    const put = () => reader.delete(`/notifications/threads/${thread}`)
    const answers = await Promise.all(round % 3 ? [mark(reader, thread), put()] : [put(), mark(reader, thread)])
    for (const answer of answers) assert.ok(answer.ok)
    const { unread, done } = await threadOf(forge, conversation)
    assert.deepEqual([unread, done], [false, true], `round ${round}`)
  }
  await inParallel(forge.conversations, 30, race)
})

test('20,000 threads are marked in the background while some are updated: those stay unread, all others are read', async () => {
  await using forge = await openConversations(1, { worker: true, own_database: true })
  const { belfry, repo_id, ada_id } = forge
  const { db } = belfry
  const [conversation] = forge.conversations as [Conversation]
  const { reader, reader_id } = conversation
  await noteMarks(db)
  await fillInbox(forge, reader, { id: repo_id }, 20_000)
  await expect(200, await reader.put(`${engine}/subscription`, { subscribed: true }))
  const update = async (number: number) => {
    const found = await db.first<{ id: number; commit_id: string }>(sql`
      select id, commit_id from notification_subjects where title = ${String(number)}`)
    if (!found) return assert.fail()
    const subject = { type: 'Commit', commit_id: found.commit_id, title: '', author_id: null } as const
    await db.transaction((transaction) => notify(transaction, { id: ada_id }, { id: repo_id }, subject, { act: 'commented' }))
    await fanOut(db, found.id)
  }
  const numbers = (from: number) => Array.from({ length: 40 }, (_, index) => from + index * 500)
  const early = numbers(1).map(update)
  await expect(202, await reader.put('/notifications'))
  const late = numbers(2)
  await Promise.all([...early, ...late.map(update)])
  await told(forge)
  assert.deepEqual(await findLost(forge, conversation), [])
  const unread = await db.rows<{ title: string }>(sql`
    select s.title from threads t join notification_subjects s on s.id = t.subject_id where t.user_id = ${reader_id} and t.unread and s.type = 'Commit'`)
  const left = new Set(unread.map(({ title }) => Number(title)))
  for (const number of late) assert.ok(left.delete(number), `${number} was updated after the mark`)
  for (const number of numbers(1)) left.delete(number)
  assert.deepEqual([...left], [], 'all others are read')
  const shown = await reader.read('/notifications?per_page=100')
  assert.equal(shown.length, unread.length)
})
