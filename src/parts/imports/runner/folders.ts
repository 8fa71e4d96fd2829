import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isKept } from '#parts/imports/stages.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { randomText } from '#platform/secrets.ts'

/** On the same disk as the repositories, so that packs can be hard-linked. */
export const importsRoot = (data: string) => join(data, 'imports')

/** Readable by the server only: the contents are not checked yet and may be private. */
export async function openFolder(root: string, import_id: number): Promise<string> {
  const folder = join(root, `${import_id}`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return folder
}

/** Renamed first, so that the name is free at once. */
export async function removeFolder(root: string, name: number | string) {
  const gone = join(root, `gone-${randomText(12)}`)
  const moved = await rename(join(root, `${name}`), gone).then(
    () => true,
    () => false,
  )
  if (moved) await rm(gone, { recursive: true, force: true, maxRetries: 3 })
}

/** Removes the folders of imports whose files are not kept. Those that `isRunning` names stay. Returns complete imports whose folders stay. */
export async function sweepFolders(
  db: Queryable,
  root: string,
  keep_days: number,
  isRunning: (import_id: number) => boolean,
): Promise<number[]> {
  // The folders are read before the imports, because a folder is created after its import.
  const names = (await readdir(root).catch(() => [])).filter((name) => !isRunning(Number(name)))
  if (!names.length) return []
  const wanted = await db.rows<{ id: number; complete: boolean }>(sql`
    select id, status = 'complete' and not active as complete from imports
    where id::text = any(${names}) and (${isKept(db.now, keep_days)})`)
  const kept = new Set(wanted.map(({ id }) => `${id}`))
  // Another node may be removing it at the same time; the next poll removes what is left.
  for (const name of names) if (!kept.has(name)) await removeFolder(root, name).catch(() => {})
  return wanted.flatMap(({ id, complete }) => (complete ? [id] : []))
}

/** In bytes of disk blocks. */
export async function sizeOfFolder(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  let size = 0
  for (const entry of entries) {
    const path = join(folder, entry.name)
    // Files appear and disappear meanwhile.
    size += entry.isDirectory()
      ? await sizeOfFolder(path)
      : await stat(path).then(
          ({ blocks }) => blocks * 512,
          () => 0,
        )
  }
  return size
}
