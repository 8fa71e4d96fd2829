import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import type { FileStore, StoredObject } from '#platform/file-store/file-store.ts'

/** The objects of this list that a repository has. */
export function findObjects(db: Queryable, repo_id: number, oids: string[]): Promise<StoredObject[]> {
  return db.rows(sql`select oid, size from lfs_objects where repo_id = ${repo_id} and oid = any(${oids})`)
}

/** Adds stored contents to a repository. */
export async function addObjects(db: Transaction, files: FileStore, repo_id: number, objects: StoredObject[]) {
  if (!objects.length) return
  await claimContents(
    db,
    files,
    objects.map(({ oid }) => oid),
  )
  await db.query(sql`
    insert into lfs_objects (repo_id, oid, size, created_at)
    select ${repo_id}, oid, size, ${db.now}
    from unnest(${objects.map(({ oid }) => oid)}::text[], ${objects.map(({ size }) => size)}::bigint[]) object (oid, size)
    on conflict do nothing`)
}

/**
 * For rows that name stored contents: the sweep waits until they are visible. Contents that it deleted before are missing here. In a store on
 * a network, contents are stored right before their rows are added, and the sweep deletes nothing that was stored lately.
 */
export async function claimContents(db: Transaction, files: FileStore, oids: string[]) {
  await db.query(sql`select pg_advisory_xact_lock_shared(${sweeping})`)
  for (const oid of files.folder === undefined ? [] : oids) {
    if ((await files.sizeOf(oid)) === undefined)
      throw new Refusal('unavailable', `The contents of ${oid} must be sent once more.`)
  }
}

/** A fork gets the objects of its parent. The caller locks the parent, so that its objects are not deleted. */
export async function copyObjects(db: Transaction, from_id: number, to_id: number) {
  await db.query(sql`
    insert into lfs_objects (repo_id, oid, size, created_at)
    select ${to_id}, oid, size, ${db.now} from lfs_objects where repo_id = ${from_id}`)
}

export const sweeping = 0x6c667377
