import { claimContents } from '#hosting/lfs/objects.ts'
import { type Database, type Queryable, sql, type Transaction } from '#platform/database.ts'
import type { FileStore } from '#platform/file-store/file-store.ts'
import { lockImport } from './import-store.ts'

/** The folder of a complete import in the store of large files. There is at most one for an import: that of its last complete run. */
export interface Stage {
  run: number
  /** Identifies the source whose history is in it. */
  origin: string
  oid: string
  size: number
}

export function findStage(db: Queryable, import_id: number): Promise<Stage | undefined> {
  return db.first<Stage>(sql`select run, origin, oid, size from import_stages where import_id = ${import_id}`)
}

/** False if the import is gone or was restarted, or if there was a push: the stage is then of no use. */
export async function recordStage(db: Transaction, files: FileStore, import_id: number, stage: Stage): Promise<boolean> {
  const { run, origin, oid, size } = stage
  if (!(await lockImport(db, sql`id = ${import_id} and run = ${run} and published is not null`))) return false
  await claimContents(db, files, [oid])
  await db.query(sql`
    insert into import_stages (import_id, run, origin, oid, size, stored_at)
    values (${import_id}, ${run}, ${origin}, ${oid}, ${size}, ${db.now})
    on conflict (import_id) do update set run = ${run}, origin = ${origin}, oid = ${oid}, size = ${size}, stored_at = ${db.now}`)
  return true
}

/** The nightly job of large files erases the contents. */
export async function deleteStage(db: Queryable, import_id: number) {
  await db.query(sql`delete from import_stages where import_id = ${import_id}`)
}

export async function deleteExpiredStages(db: Database, keep_days: number) {
  await db.query(sql`
    delete from import_stages using imports
    where imports.id = import_stages.import_id and (${isKept(db.now, keep_days)}) is not true`)
}

/**
 * A condition on imports: whether their files are kept. They are removed when the import failed a day ago or is complete for some days. After
 * the first push, importing again is refused, so they are removed too.
 */
export const isKept = (now: Date, keep_days: number) => sql`
  active or case status
    when 'complete' then published is not null and finished_at > ${now}::timestamptz - ${keep_days} * interval '1 day'
    when 'error' then updated_at >= ${now}::timestamptz - interval '1 day'
    when 'auth_failed' then updated_at >= ${now}::timestamptz - interval '1 day'
    else true end`
