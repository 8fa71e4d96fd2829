import assert from 'node:assert/strict'
import { type Notice, notify } from '#activity/notices.ts'
import { fanOut } from '#parts/notifications/fan-out.ts'
import { type Database, sql } from '#platform/database.ts'
import { expect, type Forge, type ForgeOptions, openForge, type Person } from '#test/forge.ts'

/** A conversation of ada's with a reader who participates. */
export interface Conversation {
  reader: Person
  reader_id: number
  thread: string
  subject_id: number
  issue_id: number
  number: number
}

export interface Conversations extends Forge {
  ada: Person
  ada_id: number
  repo_id: number
  conversations: Conversation[]
}

export const engine = '/repos/ada/engine'

/** Ada's repository with `count` conversations, each with its own mentioned reader, after the fan-out. */
export async function openConversations(count: number, options: ForgeOptions = {}): Promise<Conversations> {
  const forge = await openForge(options)
  const { db } = forge.belfry
  const ada = await forge.person('ada')
  const repo = await ada.owns('engine', { auto_init: true })
  const conversations: Conversation[] = []
  for (let index = 0; index < count; index++) {
    const reader = await forge.person(`reader-${index}`)
    const fields = { title: `Rattle ${index}`, body: `@${reader.login}` }
    const { number, id: issue_id } = await expect(201, await ada.post(`${engine}/issues`, fields))
    const subject = await db.first<{ id: number }>(sql`select id from notification_subjects where issue_id = ${issue_id}`)
    const subject_id = subject?.id ?? assert.fail()
    await fanOut(db, subject_id)
    const [thread] = await reader.read('/notifications')
    const user = await reader.read('/user')
    conversations.push({ reader, reader_id: user.id, thread: thread.id, subject_id, issue_id, number })
  }
  const { id: ada_id } = await ada.read('/user')
  return { ...forge, ada, ada_id, repo_id: repo.id, conversations }
}

/** Stores an event of ada's for a conversation, before its fan-out. */
export function act(
  { belfry: { db }, ada_id, repo_id }: Conversations,
  { issue_id }: Pick<Conversation, 'issue_id'>,
  notice: Notice,
) {
  const subject = { type: 'Issue', issue_id } as const
  return db.transaction((transaction) => notify(transaction, { id: ada_id }, { id: repo_id }, subject, notice))
}

/** Records for each mark the version of the thread and the snapshot of the statement. */
export async function noteMarks(db: Database) {
  await db.query(sql`alter table threads add column marked_position bigint, add column marked_in pg_snapshot`)
  await db.query(sql`
    create function note_mark() returns trigger language plpgsql stable as $$
    begin
      if old.unread and not new.unread then
        new.marked_position := old.position;
        new.marked_in := pg_current_snapshot();
      end if;
      return new;
    end $$`)
  await db.query(sql`create trigger note_mark before update on threads for each row execute function note_mark()`)
}

/** Threads that are read although the mark could not see their last update. */
export function findLost({ belfry: { db } }: Forge, { reader_id }: Conversation) {
  return db.rows<{ id: number }>(sql`
    select t.id from threads t, log_base
    where t.user_id = ${reader_id} and not t.unread and not pg_visible_in_snapshot((t.marked_position - base)::text::xid8, t.marked_in)`)
}

export interface Row {
  unread: boolean
  done: boolean
  reason: string
  notice_ids: number[]
  reasons: string[]
}

export async function threadOf({ belfry: { db } }: Forge, { thread }: Pick<Conversation, 'thread'>): Promise<Row> {
  const row = await db.first<Row>(sql`
    select unread, done, reason, notice_ids::int[], reasons::text[] from threads where id = ${thread}`)
  return row ?? assert.fail()
}

/** The event ids of a conversation in order. */
export async function noticesOf(db: Database, { subject_id }: Pick<Conversation, 'subject_id'>): Promise<number[]> {
  const rows = await db.rows<{ id: number }>(sql`select id from notification_events where subject_id = ${subject_id} order by id`)
  return rows.map(({ id }) => id)
}

/** Runs a race `rounds` times in every conversation, all in parallel, until one fails. */
export async function inParallel(
  conversations: Conversation[],
  rounds: number,
  race: (conversation: Conversation, round: number) => Promise<void>,
) {
  const failures: unknown[] = []
  const run = async (conversation: Conversation, first: number) => {
    for (let round = 0; round < rounds && !failures.length; round++) await race(conversation, first + round)
  }
  await Promise.all(conversations.map((conversation, index) => run(conversation, index).catch((error) => failures.push(error))))
  if (failures.length) throw failures[0]
}
