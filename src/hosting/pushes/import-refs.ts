import { noObject } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'
import { enqueue } from '#platform/queue.ts'

/** The original commits of an import, which corrections of authors need. */
const originals = 'refs/import/'

/** Shown on the import when a push ends its corrections. */
const overtaken = 'A push arrived before the commits were rewritten.'

/** Ends corrections of authors, because a user has pushed or the import was deleted. The original commits are no longer needed. */
export async function endCorrections(db: Transaction, repo_id: number) {
  const { rowCount } = await db.query(sql`
    update imports set published = null, correcting = false, active = active and status <> 'complete',
      message = case when active and status = 'complete' then ${overtaken} else message end
    where repo_id = ${repo_id} and published is not null`)
  if (rowCount) await forgetLater(db, repo_id)
}

/** Enqueues the removal of the original commits. */
export const forgetLater = (db: Transaction, repo_id: number) =>
  enqueue(db, 'forget_originals', { repo_id }, { key: `forget originals ${repo_id}` })

/** Keeps them if an import needs them. Refs that were added after the disk was read stay. */
export async function forgetOriginals(db: Database, storage: Storage, repo_id: number) {
  if (!storage.has(repo_id)) return
  const disk = await storage.refsOf(repo_id)
  const needed = await db.query(sql`
    select from imports where repo_id = ${repo_id} and (published is not null or status = 'pushing')`)
  if (needed.rowCount) return
  await remove(
    storage,
    repo_id,
    [...disk].filter(([name]) => name.startsWith(originals)),
    { exclusive: true },
  )
}

/** Enqueues the removal of refs that an import moved and did not record. */
export const withdrawLater = (db: Transaction, repo_id: number) => enqueue(db, 'withdraw_refs', { repo_id })

/** Removes branches and tags on disk that are neither recorded nor being pushed or imported. */
export async function withdrawUnknown(db: Database, storage: Storage, repo_id: number) {
  if (!storage.has(repo_id)) return
  // The disk is read first, then the database in one snapshot: a ref on disk is recorded by then, or its push or import is listed.
  const disk = await storage.refsOf(repo_id)
  const log = await db.first<{ names: string[]; moving: boolean }>(sql`
    select array(select name from refs where repo_id = ${repo_id}
      union select command->>'ref' from pushes, jsonb_array_elements(commands) as command where repo_id = ${repo_id}) as names,
      exists (select from imports where repo_id = ${repo_id} and status = 'pushing') as moving`)
  if (!log || log.moving) return
  const known = new Set(log.names)
  await remove(
    storage,
    repo_id,
    [...disk].filter(([name]) => /^refs\/(heads|tags)\//.test(name) && !known.has(name)),
  )
}

/** Also removes a lock that a killed import left on packed-refs. */
async function remove(storage: Storage, repo_id: number, refs: [name: string, sha: string][], options?: { exclusive: boolean }) {
  await storage.moveManyRefs(
    repo_id,
    refs.map(([ref, before]) => ({ ref, before, after: noObject })),
    options,
  )
}

/**
 * Removes replacement refs (refs/replace) that were pushed before Belfry refused them. Returns the repositories where that failed; the
 * next start tries them again.
 */
export async function removeReplacements(db: Database, storage: Storage): Promise<{ repo_id: number; error: unknown }[]> {
  const failures: { repo_id: number; error: unknown }[] = []
  for (const { repo_id } of await db.rows<{ repo_id: number }>(sql`select repo_id from replaced_repositories`)) {
    await removeFrom(db, storage, repo_id).catch((error) => failures.push({ repo_id, error }))
  }
  return failures
}

async function removeFrom(db: Database, storage: Storage, repo_id: number) {
  const refs = storage.has(repo_id) ? [...(await storage.refsOf(repo_id))] : []
  await remove(
    storage,
    repo_id,
    refs.filter(([name]) => name.startsWith('refs/replace/')),
  )
  await db.query(sql`delete from replaced_repositories where repo_id = ${repo_id}`)
}
