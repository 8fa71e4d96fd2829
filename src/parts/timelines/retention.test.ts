import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expect, type Forge, openForge } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { fillLog, tell } from '#test/timelines.ts'

const day = 86_400_000

/** Waits until no job is due. */
const idle = ({ belfry: { db } }: Forge) =>
  until('no job is due', async () => {
    const { rowCount } = await db.pool.query(`select from graphile_worker.jobs where run_at <= now()`)
    return rowCount === 0
  })

test('a job deletes the events of a deleted repository', async () => {
  await using forge = await openForge({ worker: true })
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine')
  await ada.owns('mill')
  await fillLog(forge, id, (await ada.read('/user')).id, 12_000)
  await expect(204, await ada.delete('/repos/ada/engine'))
  assert.deepEqual(await tell(ada, '/users/ada/events'), ['ada CreateEvent ada/mill'])
  await idle(forge)
  const { rows } = await forge.belfry.db.pool.query('select repo_id from events')
  assert.equal(rows.length, 1)
})

test('partitions of months that no timeline shows are dropped', async () => {
  await using forge = await openForge({ worker: true })
  const { db } = forge.belfry
  const ada = await forge.person('ada')
  await ada.owns('engine')
  forge.clock.advance(60 * day)
  await ada.owns('mill')
  const months = async () =>
    (
      await db.pool.query(
        `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'events'::regclass order by 1`,
      )
    ).rows.map(({ name }) => name)
  assert.deepEqual(await months(), ['events_2026_02', 'events_2026_04'])
  const forget = async () => {
    await db.pool.query(`select graphile_worker.add_job('forget_events')`)
    await idle(forge)
  }
  await forget()
  assert.deepEqual(await months(), ['events_2026_02', 'events_2026_04'])
  forge.clock.advance(338 * day)
  await forget()
  assert.deepEqual(await months(), ['events_2026_04'], 'a profile shows a year')
  const { rows } = await db.pool.query('select type from events')
  assert.deepEqual(rows, [{ type: 'CreateEvent' }])
})
