import { type Database, sql, type Transaction } from '#platform/database.ts'
import type { FileStore } from '#platform/file-store/file-store.ts'
import { sweeping } from './objects.ts'

/**
 * Deletes contents that no repository, release and import has, and unfinished uploads, if they are older than `before`: an import stores contents
 * long before it records them. Returns the number of deleted files.
 */
export async function sweepStore(db: Database, files: FileStore, before: Date): Promise<number> {
  let erased = await files.eraseDrafts(before)
  for await (const objects of files.list(before)) {
    const oids = objects.map(({ oid }) => oid)
    if ((await findUnnamed(db, oids)).length)
      erased += await db.transaction((transaction) => eraseUnnamed(transaction, files, oids, before))
  }
  return erased
}

const findUnnamed = async (db: Database | Transaction, oids: string[]) =>
  (
    await db.rows<{ oid: string }>(sql`
      select oid from unnest(${oids}::text[]) stored (oid)
      where not exists (select from lfs_objects where oid = stored.oid) and not exists (select from release_assets where oid = stored.oid)
        and not exists (select from import_stages where oid = stored.oid)`)
  ).map(({ oid }) => oid)

/** Requests that add objects wait for it, so a store on a network has little time for its answers. */
async function eraseUnnamed(db: Transaction, files: FileStore, oids: string[], before: Date) {
  await db.query(sql`select pg_advisory_xact_lock(${sweeping})`)
  return files.erase(await findUnnamed(db, oids), before)
}
