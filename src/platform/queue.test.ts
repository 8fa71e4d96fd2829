import assert from 'node:assert/strict'
import { rename } from 'node:fs/promises'
import { test } from 'node:test'
import { errorsOf, openForge } from '#test/forge.ts'
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

test('a job that waits for another is tried again later, and logged without an error', async () => {
  await using forge = await openForge({ worker: true })
  const { db, storage } = forge.belfry
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine')
  const path = storage.pathOf(id)
  await rename(path, `${path}.aside`)
  const erasing = { repo_id: 0, network_id: id }
  await db.transaction((transaction) => enqueue(transaction, 'erase_repository', erasing, { key: 'erase' }))
  await until('it waits', () => forge.logged.some((line) => line.includes('has no contents yet')))
  assert.deepEqual(errorsOf(forge), [])
  await rename(`${path}.aside`, path)
  await db.transaction((transaction) => enqueue(transaction, 'erase_repository', erasing, { key: 'erase' }))
  await until('it is done', async () => (await db.rows(sql`select from graphile_worker.jobs where key = 'erase'`)).length === 0)
})
