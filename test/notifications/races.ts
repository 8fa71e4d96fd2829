import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fanOut } from '#parts/notifications/fan-out.ts'
import { seeded } from '#test/activity/crowd.ts'
import { expect, type Person } from '#test/forge.ts'
import { told } from '#test/inbox.ts'
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
export const marks: ((reader: Person, thread: string) => Promise<Response>)[] = [
  (reader, thread) => reader.patch(`/notifications/threads/${thread}`),
  (reader) => reader.put('/notifications'),
  (reader) => reader.put(`${engine}/notifications`),
  (reader, thread) => reader.delete(`/notifications/threads/${thread}`),
]

/** Eight readers mark their threads at the moment of an update, `rounds` times each. */
export function testRaces(rounds: number) {
  test('a thread that is updated during a mark is read only if the mark saw the update', async () => {
    await using forge = await openConversations(8, { own_database: true })
    const { belfry, conversations } = forge
    await noteMarks(belfry.db)
    const random = seeded(1)
    const seen = { read: 0, unread: 0 }
    const race = async (conversation: Conversation, round: number) => {
      const { reader, thread, subject_id } = conversation
      const mark = marks[round % marks.length] ?? assert.fail()
      await act(forge, conversation, { act: 'commented' })
      const order: string[] = []
      const tell = async () => {
        order.push('telling')
        await fanOut(belfry.db, subject_id)
        order.push('told')
      }
      const put = async () => {
        order.push('marking')
        assert.ok((await mark(reader, thread)).ok)
        order.push('marked')
      }
      // Every mark is made before the fan-out, after it, and twice at any moment of it.
      const way = Math.floor(round / marks.length) % 4
      if (way === 0) await put().then(tell)
      else if (way === 1) await tell().then(put)
      else await Promise.all([sleep(random() * 4).then(tell), sleep(random() * 4).then(put)])
      const { unread } = await threadOf(forge, conversation)
      const [last] = order
      if (order[1] === 'marked') assert.equal(unread, true, `marked before it was told, ${last}`)
      if (order[1] === 'told') assert.equal(unread, false, 'told before it was marked')
      assert.deepEqual(await findLost(forge, conversation), [], `round ${round}`)
      seen[unread ? 'unread' : 'read']++
    }
    await inParallel(conversations, rounds, race)
    for (const conversation of conversations)
      assert.deepEqual((await threadOf(forge, conversation)).notice_ids, (await noticesOf(belfry.db, conversation)).slice(-100))
    const few = (conversations.length * rounds) / 20
    assert.ok(seen.read > few && seen.unread > few, JSON.stringify(seen))
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
    for (let round = 0; round < rounds / 5; round++) {
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
    await inParallel(forge.conversations, rounds / 5, race)
  })
}
