import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import type { WorkerEvents } from 'graphile-worker'
import { openForge } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { sql } from './database.ts'
import { reclaimLostJobs } from './lost-jobs.ts'

test('a job is released that is assigned after its answer was lost and after others were released', async () => {
  await using forge = await openForge()
  const { db, log } = forge.belfry
  const events: WorkerEvents = new EventEmitter()
  const stop = new AbortController()
  reclaimLostJobs(db, events, () => 'runner', log, stop.signal, { pause: 10, again: 10, doubtful: 120_000 })
  const held = async () => (await db.rows(sql`select from graphile_worker.jobs where locked_by = 'runner'`)).length
  const isReleased = async () => (await held()) === 0
  const assign = async () => {
    const { id } = await db.load<{ id: string }>(sql`select id from graphile_worker.add_job('tell', '{}')`)
    await db.query(sql`
      update graphile_worker._private_jobs set locked_by = 'runner', locked_at = clock_timestamp() - interval '1 minute' where id = ${id}`)
  }
  await assign()
  assert.equal(await held(), 1)
  events.emit('worker:getJob:error', {} as never)
  await until('the first one is released', isReleased)
  await assign()
  await until('the later one is released', isReleased)
  stop.abort()
})
