import { type Queryable, sql } from '#platform/database.ts'

/** What a request or a job has loaded. */
export interface Loaded {
  repo_ids?: number[]
  account_ids?: number[]
}

/** Whether one of these records is deleted by now. A repository loses its row first and its folder later, so work that has begun may miss either. */
export async function isDeleted(db: Queryable, { repo_ids = [], account_ids = [] }: Loaded): Promise<boolean> {
  const found = await db.query(sql`
    select from unnest(${repo_ids}::bigint[]) wanted (id) where not exists (select from repositories r where r.id = wanted.id)
    union all
    select from unnest(${account_ids}::bigint[]) wanted (id) where not exists (select from accounts a where a.id = wanted.id)`)
  return found.rowCount !== 0
}

/** Runs a job on these records. If it fails and one of them was deleted meanwhile, nothing is left to do. */
export async function unlessDeleted(db: Queryable, records: Loaded, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(await isDeleted(db, records))) throw error
  }
}

/**
 * A job that reads several repositories may fail because one of them is deleted meanwhile: run again, it finds what is left. One deletion
 * may be met twice, because the row goes first and the folder later.
 */
export const repeated = <T>(work: () => Promise<T>): Promise<T> => work().catch(work).catch(work)
