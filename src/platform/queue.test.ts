import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openForge } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { type Database, sql } from './database.ts'
import { enqueue } from './queue.ts'

const add = (db: Database) => db.transaction((transaction) => enqueue(transaction, 'tell', { subject_id: 0 }, { key: 'tell 0' }))

test('a job is added again when a worker takes the one with its key at the same moment', async () => {
  await using forge = await openForge()
  const { db } = forge.belfry
  await add(db)
  const adding = await db.transaction(async (worker) => {
    await worker.query(sql`update graphile_worker._private_jobs set locked_at = now(), locked_by = 'worker' where key = 'tell 0'`)
    const waiting = add(db)
    await until('the second job waits for the first', async () => {
      const found = await db.rows(sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%enqueue_job%'`)
      return found.length > 0
    })
    return { waiting }
  })
  await adding.waiting
  const jobs = await db.rows<{ locked: boolean }>(sql`
    select locked_at is not null as locked from graphile_worker.jobs where task_identifier = 'tell' order by id`)
  assert.deepEqual(jobs, [{ locked: true }, { locked: false }])
})
