import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { dropLeftovers } from '#git/repair.ts'
import type { Storage } from '#git/storage.ts'
import { type Database, sql } from '#platform/database.ts'

/** How many folders are looked up in one query. */
const batch = 500

interface Found {
  id: number
  path: string
  /** A repository that was being made when its process ended. */
  draft: boolean
}

/**
 * Removes repository folders without a row, and drafts, if they are older than `before`: a repository is made on disk before its row
 * is. With `inside`, it reads every repository and also removes what killed processes left in it. Returns what was removed.
 */
export async function sweepRepositories(db: Database, storage: Storage, before: Date, { inside = false } = {}) {
  const removed: string[] = []
  for await (const { path, needed } of compareFolders(db, storage, before)) {
    if (!needed) {
      await storage.eraseFolder(path)
      removed.push(path)
    } else if (inside && (await dropLeftovers(path, before.getTime()))) {
      removed.push(`leftovers in ${path}`)
    }
  }
  return removed
}

/** The folders that `sweepRepositories` removes. */
export async function listOrphans(db: Database, storage: Storage, before: Date): Promise<string[]> {
  const found: string[] = []
  for await (const { path, needed } of compareFolders(db, storage, before)) if (!needed) found.push(path)
  return found
}

async function* compareFolders(db: Database, storage: Storage, before: Date): AsyncGenerator<{ path: string; needed: boolean }> {
  const last = await lastId(db)
  for await (const found of listFolders(storage, before)) {
    const ids = [...new Set(found.map(({ id }) => id))]
    const needed = await db.rows<{ id: number }>(sql`
      select id from unnest(${ids}::bigint[]) stored (id) where exists (select from repositories r where r.id = stored.id)
      union
      -- A fork may be waiting for the contents of a repository that is deleted by now; the job that erases those waits for it.
      select (j.payload->>field)::bigint from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
        cross join unnest(array['repo_id', 'from_id', 'to_id']) field
      where t.identifier in ('erase_repository', 'copy_repository', 'generate_repository') and j.payload->>field is not null`)
    const named = new Set(needed.map(({ id }) => id))
    for (const { id, path, draft } of found) {
      // The database is older than the disk, for example after a backup of the database alone was restored. Such a folder is no leftover.
      if (id <= last) yield { path, needed: !draft && named.has(id) }
    }
  }
}

/** The last id that was given to a repository, on disk or in the database. */
async function lastId(db: Database): Promise<number> {
  const found = await db.first<{ last: number | null }>(
    sql`select pg_sequence_last_value(pg_get_serial_sequence('repositories', 'id')::regclass) as last`,
  )
  return found?.last ?? 0
}

async function* listFolders(storage: Storage, before: Date): AsyncGenerator<Found[]> {
  let found: Found[] = []
  for (const folder of await storage.folders()) {
    for await (const { name } of await opendir(folder)) {
      const [, id, draft] = /^(\d+)\.git(\.new)?$/.exec(name) ?? []
      const path = join(folder, name)
      const { mtime } = (id && (await stat(path).catch(() => undefined))) || {}
      if (!id || !mtime || mtime >= before) continue
      found.push({ id: Number(id), path, draft: draft !== undefined })
      if (found.length < batch) continue
      yield found
      found = []
    }
  }
  if (found.length) yield found
}
