import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Queryable, sql } from '#platform/database.ts'
import { randomText } from '#platform/secrets.ts'

/** Where imports are made: beside the repositories, so that what is made can be linked into them. */
export const importsRoot = (data: string) => join(data, 'imports')

/** Only we may look into it: what lies there is not checked yet, and may be private. */
export async function openFolder(root: string, import_id: number): Promise<string> {
  const folder = join(root, `${import_id}`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return folder
}

/** It is gone at once, whatever is in it. */
export async function removeFolder(root: string, name: number | string) {
  const gone = join(root, `gone-${randomText(12)}`)
  const moved = await rename(join(root, `${name}`), gone).then(
    () => true,
    () => false,
  )
  if (moved) await rm(gone, { recursive: true, force: true, maxRetries: 3 })
}

/** Removes what belongs to no import any more, to one that is done, or to one that nobody mended for a day; `mine` are at work. */
export async function sweepFolders(db: Queryable, root: string, isRunning: (import_id: number) => boolean) {
  // The folders are read before the imports: each folder is younger than its import.
  const names = (await readdir(root).catch(() => [])).filter((name) => !isRunning(Number(name)))
  if (!names.length) return
  const wanted = await db.rows<{ id: number }>(sql`
    select id from imports where id::text = any(${names}) and (active or (status <> 'complete' and not (
      status in ('error', 'auth_failed') and updated_at < ${db.now}::timestamptz - interval '1 day')))`)
  const kept = new Set(wanted.map(({ id }) => `${id}`))
  // Another node may be removing one at the same moment; what is left is found the next time.
  for (const name of names) if (!kept.has(name)) await removeFolder(root, name).catch(() => {})
}

/** In bytes, as the disk counts them. */
export async function sizeOfFolder(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  let size = 0
  for (const entry of entries) {
    const path = join(folder, entry.name)
    // Files come and go while we look.
    size += entry.isDirectory()
      ? await sizeOfFolder(path)
      : await stat(path).then(
          ({ blocks }) => blocks * 512,
          () => 0,
        )
  }
  return size
}
