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
