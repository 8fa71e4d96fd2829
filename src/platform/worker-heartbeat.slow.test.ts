import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { expect, openForge } from '#test/forge.ts'
import { inboxOf, openIssue, told } from '#test/inbox.ts'
import { until } from '#test/machine.ts'
import { openWorker } from '#worker.ts'
import { countJobs } from './failed-jobs.ts'
import { recordHeartbeat } from './worker-heartbeat.ts'

/** A forge where ben is to be told of something, and somebody has the job of that in hand. */
async function openHeld(seconds: number) {
  const forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  await openIssue(ada, '/repos/ada/engine', { body: '@ben' })
  const { db } = forge.belfry
  await db.query(sql`
    update graphile_worker._private_jobs set locked_by = 'somebody', locked_at = clock_timestamp() - ${seconds} * interval '1 second'`)
  const held = async () => (await db.query(sql`select from graphile_worker.jobs where locked_by = 'somebody'`)).rowCount
  return { ...forge, ada, ben, pool: db.pool, held }
}

test('another worker runs the jobs of a worker without heartbeats', async () => {
  await using forge = await openHeld(61)
  const worker = await openWorker(forge.belfry)
  await told(forge)
  assert.deepEqual(await inboxOf(forge.ben), ['It rattles: mention'])
  await worker.stop()
})

test('a job of a dead worker that was replaced while it ran does not count as failed', async () => {
  await using forge = await openHeld(61)
  await expect(201, await forge.ada.post('/repos/ada/engine/issues/1/comments', { body: '@ben' }))
  assert.equal(await forge.held(), 1)
  assert.deepEqual(await recordHeartbeat(forge.pool, new Set(['other'])), ['somebody'])
  const { failed, waiting } = await countJobs(forge.belfry.db)
  assert.deepEqual({ failed, waiting }, { failed: 0, waiting: 1 })
  const worker = await openWorker(forge.belfry)
  await told(forge)
  assert.deepEqual(await inboxOf(forge.ben), ['It rattles: mention'])
  await worker.stop()
})

test('a job that was released while it was replaced does not count as failed', async () => {
  await using forge = await openHeld(1)
  const { db } = forge.belfry
  await db.query(
    sql`update graphile_worker._private_jobs set locked_by = null, locked_at = null, key = null, attempts = max_attempts`,
  )
  assert.equal((await countJobs(db)).failed, 1)
  await recordHeartbeat(forge.pool, new Set(['somebody']))
  assert.equal((await countJobs(db)).failed, 0)
  await db.query(sql`select graphile_worker.add_job('tell', '{}')`)
  await db.query(sql`update graphile_worker._private_jobs set attempts = max_attempts, last_error = 'It failed'`)
  await recordHeartbeat(forge.pool, new Set(['somebody']))
  assert.equal((await countJobs(db)).failed, 1, 'a failed job stays')
})

test('a worker with heartbeats keeps its jobs, however long they take', async () => {
  await using forge = await openHeld(3600)
  assert.deepEqual(await recordHeartbeat(forge.pool, new Set(['somebody'])), [])
  assert.deepEqual(await recordHeartbeat(forge.pool, new Set(['other'])), [])
  assert.equal(await forge.held(), 1)
  await forge.pool.query(`update workers set seen_at = clock_timestamp() - interval '61 seconds' where id = 'somebody'`)
  assert.deepEqual(await recordHeartbeat(forge.pool, new Set(['other'])), ['somebody'])
  assert.equal(await forge.held(), 0)
})

test('a worker that has just started does not count as dead', async () => {
  await using forge = await openHeld(30)
  assert.deepEqual(await recordHeartbeat(forge.pool, new Set(['other'])), [])
  assert.equal(await forge.held(), 1)
})

test('a worker that stops removes its heartbeat, and running workers have one', async () => {
  await using forge = await openForge()
  const { db } = forge.belfry
  const known = async () => (await db.rows(sql`select from workers`)).length
  const worker = await openWorker(forge.belfry)
  await until('the workers are known', async () => (await known()) > 0)
  await worker.stop()
  assert.equal(await known(), 0)
})
