import { hasObject, type StoredObject } from '#git/lfs-store.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'

/** Of these, the ones that a repository has. */
export function findObjects(db: Queryable, repo_id: number, oids: string[]): Promise<StoredObject[]> {
  return db.rows(sql`select oid, size from lfs_objects where repo_id = ${repo_id} and oid = any(${oids})`)
}

/** Makes contents that are in the store a repository's own. */
export async function addObjects(db: Transaction, root: string, repo_id: number, objects: StoredObject[]) {
  if (!objects.length) return
  // Whoever sweeps the store waits until these rows can be seen, and whatever it erased before is found missing here.
  await db.query(sql`select pg_advisory_xact_lock_shared(${sweeping})`)
  for (const { oid } of objects) {
    if (!(await hasObject(root, oid))) throw new Refusal('unavailable', `The contents of ${oid} must be sent once more.`)
  }
  await db.query(sql`
    insert into lfs_objects (repo_id, oid, size, created_at)
    select ${repo_id}, oid, size, ${db.now}
    from unnest(${objects.map(({ oid }) => oid)}::text[], ${objects.map(({ size }) => size)}::bigint[]) object (oid, size)
    on conflict do nothing`)
}

/** A fork has all that its parent has. Its parent must be held: as long as it has them, nobody erases them. */
export async function copyObjects(db: Transaction, from_id: number, to_id: number) {
  await db.query(sql`
    insert into lfs_objects (repo_id, oid, size, created_at)
    select ${to_id}, oid, size, ${db.now} from lfs_objects where repo_id = ${from_id}`)
}

export const sweeping = 0x6c667377
