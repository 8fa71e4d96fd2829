import assert from 'node:assert/strict'
import { test } from 'node:test'
import { notify } from '#activity/notices.ts'
import { fanOut } from '#parts/notifications/fan-out.ts'
import { sql } from '#platform/database.ts'
import { expect } from '#test/forge.ts'
import { fillInbox, told } from '#test/inbox.ts'
import { type Conversation, engine, findLost, noteMarks, openConversations } from './conversations.ts'
import { testRaces } from './races.ts'

testRaces(125)

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
