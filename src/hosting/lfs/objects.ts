import { hasObject, type StoredObject } from '#git/lfs-store.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'

/** The objects of this list that a repository has. */
export function findObjects(db: Queryable, repo_id: number, oids: string[]): Promise<StoredObject[]> {
  return db.rows(sql`select oid, size from lfs_objects where repo_id = ${repo_id} and oid = any(${oids})`)
}

/** Adds stored contents to a repository. */
export async function addObjects(db: Transaction, root: string, repo_id: number, objects: StoredObject[]) {
  if (!objects.length) return
  await claimContents(
    db,
    root,
    objects.map(({ oid }) => oid),
  )
  await db.query(sql`
    insert into lfs_objects (repo_id, oid, size, created_at)
    select ${repo_id}, oid, size, ${db.now}
    from unnest(${objects.map(({ oid }) => oid)}::text[], ${objects.map(({ size }) => size)}::bigint[]) object (oid, size)
    on conflict do nothing`)
}

/** For rows that name stored contents: the sweep waits until they are visible. Contents that it deleted before are missing here. */
export async function claimContents(db: Transaction, root: string, oids: string[]) {
  await db.query(sql`select pg_advisory_xact_lock_shared(${sweeping})`)
  for (const oid of oids) {
    if (!(await hasObject(root, oid))) throw new Refusal('unavailable', `The contents of ${oid} must be sent once more.`)
  }
}

/** A fork gets the objects of its parent. The caller locks the parent, so that its objects are not deleted. */
export async function copyObjects(db: Transaction, from_id: number, to_id: number) {
  await db.query(sql`
    insert into lfs_objects (repo_id, oid, size, created_at)
    select ${to_id}, oid, size, ${db.now} from lfs_objects where repo_id = ${from_id}`)
}

export const sweeping = 0x6c667377
