import { opendir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { draftsOf, isOid, pathOf } from '#git/lfs-store.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'
import { sweeping } from './objects.ts'

/** Objects in one statement. Requests that add objects wait for it. */
const batch = 200

/**
 * Deletes contents that no repository and no release has, and unfinished uploads, if they are older than `before`: an import stores contents long before
 * it records them. Returns the number of deleted files.
 */
export async function sweepStore(db: Database, root: string, before: Date): Promise<number> {
  let erased = await eraseDrafts(root, before)
  for (const first of await folders(root)) {
    for (const second of await folders(join(root, first))) {
      for await (const oids of oldObjects(root, join(first, second), before)) {
        erased += await db.transaction((transaction) => eraseUnnamed(transaction, root, oids, before))
      }
    }
  }
  return erased
}

/** Unfinished uploads. */
export async function eraseDrafts(root: string, before: Date) {
  const drafts = await readdir(draftsOf(root)).catch(() => [])
  let erased = 0
  for (const name of drafts) {
    const path = join(draftsOf(root), name)
    if (!(await isOlder(path, before))) continue
    await rm(path, { force: true })
    erased++
  }
  return erased
}

async function folders(path: string) {
  const found = await readdir(path).catch(() => [])
  return found.filter((name) => /^[0-9a-f]{2}$/.test(name)).sort()
}

async function* oldObjects(root: string, place: string, before: Date) {
  let oids: string[] = []
  for await (const { name } of await opendir(join(root, place))) {
    if (!isOid(name) || !(await isOlder(join(root, place, name), before))) continue
    oids.push(name)
    if (oids.length < batch) continue
    yield oids
    oids = []
  }
  if (oids.length) yield oids
}

async function eraseUnnamed(db: Transaction, root: string, oids: string[], before: Date) {
  await db.query(sql`select pg_advisory_xact_lock(${sweeping})`)
  const unnamed = await db.rows<{ oid: string }>(sql`
    select oid from unnest(${oids}::text[]) stored (oid)
    where not exists (select from lfs_objects where oid = stored.oid) and not exists (select from release_assets where oid = stored.oid)`)
  for (const { oid } of unnamed) {
    // It may have been stored again since it was listed.
    if (await isOlder(pathOf(root, oid), before)) await rm(pathOf(root, oid), { force: true })
  }
  return unnamed.length
}

async function isOlder(path: string, before: Date) {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && found.mtime < before
}
