import { type Database, type Queryable, sql, type Transaction } from './database.ts'
import { missing } from './errors.ts'
import { type Listed, listed, type Slice } from './listed.ts'

/** A job that used up its attempts: it does not run again until an operator retries it. */
export interface FailedJob {
  id: number
  task: string
  attempts: number
  last_error: string | null
  created_at: Date
  failed_at: Date
}

const failed = sql`attempts >= max_attempts and locked_at is null`

export function listFailedJobs(db: Database, slice: Slice): Promise<Listed<FailedJob>> {
  return listed(
    db,
    {
      columns: sql`id::bigint, task_identifier as task, attempts, last_error, created_at, updated_at as failed_at`,
      source: sql`graphile_worker.jobs where ${failed}`,
      order: sql`updated_at desc, id desc`,
    },
    slice,
  )
}

/** The number of jobs by state. */
export async function countJobs(db: Queryable): Promise<{ waiting: number; running: number; failed: number }> {
  const counts = await db.first<{ waiting: number; running: number; failed: number }>(sql`
    select count(*) filter (where locked_at is null and attempts < max_attempts) as waiting,
      count(*) filter (where locked_at is not null) as running, count(*) filter (where ${failed}) as failed
    from graphile_worker.jobs`)
  return counts ?? { waiting: 0, running: 0, failed: 0 }
}

/** Runs a failed job again, with all its attempts. */
export async function retryFailedJob(db: Transaction, id: number) {
  await findFailed(db, id)
  await db.query(sql`
    select graphile_worker.reschedule_jobs(array[${id}]::bigint[], run_at := ${db.now}::timestamptz, attempts := 0)`)
}

/** Deletes a failed job. */
export async function discardFailedJob(db: Transaction, id: number) {
  await findFailed(db, id)
  await db.query(sql`select graphile_worker.complete_jobs(array[${id}]::bigint[])`)
}

async function findFailed(db: Transaction, id: number) {
  const found = await db.query(sql`select from graphile_worker.jobs where id = ${id} and ${failed}`)
  if (!found.rowCount) throw missing()
}
