import { noObject } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'
import { enqueue } from '#platform/queue.ts'

/** Where the commits of an import are kept as they came, so that their authors can be corrected. */
const originals = 'refs/import/'

/** Why authors that were corrected a moment before are not in the commits. */
const overtaken = 'Somebody has pushed before the commits could be written anew.'

/** Somebody has pushed, or the import is gone: authors of what was imported are not corrected any more, and originals not needed. */
export async function endCorrections(db: Transaction, repo_id: number) {
  const { rowCount } = await db.query(sql`
    update imports set published = null, correcting = false, active = active and status <> 'complete',
      message = case when active and status = 'complete' then ${overtaken} else message end
    where repo_id = ${repo_id} and published is not null`)
  if (rowCount) await forgetLater(db, repo_id)
}

/** Asks for the originals to be dropped. */
export const forgetLater = (db: Transaction, repo_id: number) =>
  enqueue(db, 'forget_originals', { repo_id }, { key: `forget originals ${repo_id}` })

/** Unless there is an import that they belong to: what comes after the disk was read is not touched. */
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

/** Asks for refs to be taken back that an import has moved and nobody has been told of. */
export const withdrawLater = (db: Transaction, repo_id: number) => enqueue(db, 'withdraw_refs', { repo_id })

/** Branches and tags on disk that are neither known nor being pushed or imported. */
export async function withdrawUnknown(db: Database, storage: Storage, repo_id: number) {
  if (!storage.has(repo_id)) return
  // The disk is read first, and the rest at one moment: whoever has put something there is known by then, or named as being at it.
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

/** Whoever was killed at an import may have left the file of all refs held: that is seen to as well. */
async function remove(storage: Storage, repo_id: number, refs: [name: string, sha: string][], options?: { exclusive: boolean }) {
  await storage.moveManyRefs(
    repo_id,
    refs.map(([ref, before]) => ({ ref, before, after: noObject })),
    options,
  )
}

/**
 * Removes replacement objects (refs/replace) that were pushed before we refused them. Returns repositories where that failed, which are tried again
 * at the next start.
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
