import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { signedIn } from '#test/guest.ts'
import { shareGuild } from '#test/guild.ts'
import { until } from '#test/machine.ts'
import { markAllRead, marksLock } from './mark-read.ts'

const forge = await shareGuild()
const { ben, cy, clock } = forge
const { db } = forge.belfry
const visitor = await signedIn(forge, 'ben')

/** A thread of ben's as the inbox shows it. */
async function openThread() {
  const place = await forge.place()
  const number = await place.open(cy, { body: '@ben' })
  const { id } = await place.thread(ben)
  const [, shown = ''] = (await visitor.get('/notifications')).text.match(new RegExp(`name="id" value="(${id}\\.\\d+)"`)) ?? []
  const act = (name: string) => visitor.postAndFollow('/notifications', { act: name, id: shown, offset: '0' })
  return { ...place, number, id: Number(id), act, row: () => rowOf(Number(id)) }
}

const rowOf = (id: number) =>
  db.load<{ unread: boolean; saved: boolean; done: boolean; snoozed: boolean }>(
    sql`select unread, saved, done, snoozed_until is not null as snoozed from threads where id = ${id}`,
  )

const someoneWaits = () =>
  until('a statement waits for a lock', async () => {
    const rows = await db.rows(sql`select from pg_locks l join pg_database d on d.oid = l.database
      where not l.granted and d.datname = current_database()
      union all select from pg_locks where not granted and locktype = 'transactionid'`)
    return rows.length > 0
  })

test('everything is marked as read, also a thread that another tab saves at that moment', async () => {
  const { act, row } = await openThread()
  const saving = await db.transaction(async (tab) => {
    await tab.query(sql`select ${marksLock(await idOf('ben'))}`)
    const other = { saved: act('save') }
    await someoneWaits()
    await markAllRead(tab, await idOf('ben'), { last_read_at: clock.now() })
    return other
  })
  await saving.saved
  assert.deepEqual(await row(), { unread: false, saved: true, done: false, snoozed: false })
})

async function idOf(login: string) {
  return db.load<{ id: number }>(sql`select id from accounts where login = ${login}`)
}

const expected = {
  save: { unread: true, saved: true, done: false, snoozed: false },
  unsave: { unread: true, saved: false, done: false, snoozed: false },
  'snooze-later': { unread: false, saved: false, done: true, snoozed: true },
}

for (const [name, after] of Object.entries(expected)) {
  test(`${name} applies to a thread that is updated at that moment, or was updated since it was shown`, async () => {
    const { act, row, id, say, number, thread } = await openThread()
    if (name === 'unsave') await act('save')
    const acting = await db.transaction(async (update) => {
      await update.query(sql`
        update threads set unread = true, updated_at = ${clock.now()}, position = (select log_position()) where id = ${id}`)
      const acted = { response: act(name) }
      await someoneWaits()
      return acted
    })
    assert.doesNotMatch((await acting.response).text, /not changed/)
    assert.deepEqual(await row(), after)
    await act(name === 'save' ? 'unsave' : 'undone')
    if (name === 'unsave') await act('save')
    clock.advance(5000)
    await say(cy, number)
    await thread(ben)
    assert.doesNotMatch((await act(name)).text, /not changed/)
    assert.deepEqual(await row(), after)
  })
}

test('read and done leave out a thread that was updated since it was shown, and say so', async () => {
  for (const name of ['read', 'done']) {
    const { act, row, say, number, thread } = await openThread()
    clock.advance(5000)
    await say(cy, number)
    await thread(ben)
    assert.match((await act(name)).text, /not changed, because of new activity/)
    assert.deepEqual(await row(), { unread: true, saved: false, done: false, snoozed: false })
  }
})
