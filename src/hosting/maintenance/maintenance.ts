import type { Storage } from '#git/storage.ts'
import { type Repair, repairRefs } from '#hosting/pushes/repair-refs.ts'
import { isDeleted } from '#identity/deletion.ts'
import { type Database, type Queryable, sql } from '#platform/database.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import type { Logger } from '#platform/log.ts'

/** Repositories in one job: about a second of work. */
const batch = 100

/** Checks repositories in the order of ids, after `after`. Returns the last id, or undefined at the end. */
export async function checkSome(db: Database, storage: Storage, log: Logger, after: number): Promise<number | undefined> {
  const rows = await db.rows<{ id: number; default_branch: string; copying: boolean }>(sql`
    select r.id, r.default_branch, exists (select from graphile_worker._private_jobs j
        join graphile_worker._private_tasks t on t.id = j.task_id
        where t.identifier in ('copy_repository', 'generate_repository') and (j.payload->>'to_id')::bigint = r.id) as copying
    from repositories r where r.id > ${after} order by r.id limit ${batch}`)
  for (const { id, default_branch, copying } of rows) {
    const records = { repo_ids: [id] }
    try {
      if (!storage.has(id) && !copying && !(await isDeleted(db, records))) {
        // If the folder is missing, an empty repository accepts pushes again. Lost commits are reported below.
        log.error({ repo_id: id }, 'the folder of a repository is missing: an empty one replaces it')
        await storage.create(id, default_branch)
        // The job that erases a deleted repository may have run before.
        if (await isDeleted(db, records)) await storage.erase(id)
      }
      report(log, id, await repairRefs(db, storage, id))
    } catch (error) {
      if (await isDeleted(db, records)) continue
      log.error({ err: error, repo_id: id }, 'a repository could not be checked; run git fsck in its folder')
    }
  }
  return rows.length === batch ? rows.at(-1)?.id : undefined
}

const meanings = {
  restored: 'the disk was behind the database: the ref is back at the recorded commit',
  adopted: 'the disk had a commit that no push explains: the database follows it',
  lost: 'the recorded commit is not on disk: the database follows the disk, and a user who has the commit must push it again',
}

function report(log: Logger, repo_id: number, repairs: Repair[]) {
  for (const repair of repairs) log.error({ repo_id, ...repair }, `disk and database differed; ${meanings[repair.outcome]}`)
}

export interface RepairRow extends Repair {
  id: number
  repo_id: number
  full_name: string
  found_at: Date
}

export function listRepairs(db: Database, slice: Slice): Promise<Listed<RepairRow>> {
  return listed(
    db,
    {
      columns: sql`p.id, p.repo_id, o.login || '/' || r.name as full_name, p.ref, p.recorded_sha, p.disk_sha, p.outcome, p.found_at`,
      source: sql`ref_repairs p join repositories r on r.id = p.repo_id join accounts o on o.id = r.owner_id`,
      order: sql`p.id desc`,
    },
    slice,
  )
}

export async function countRepairs(db: Queryable): Promise<Record<Repair['outcome'], number>> {
  const rows = await db.rows<{ outcome: Repair['outcome']; count: number }>(
    sql`select outcome, count(*) as count from ref_repairs group by outcome`,
  )
  return { restored: 0, adopted: 0, lost: 0, ...Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count])) }
}
