import { checkWritable } from '#identity/access.ts'
import type { LargeFile } from '#importer/steps.ts'
import { json, type Queryable, sql, type Transaction } from '#platform/database.ts'
import type { Listed, Slice } from '#platform/listed.ts'
import type { Import, LfsPreference } from './import-row.ts'
import { changeStatus, loadImport, lockImportOf, refused } from './import-store.ts'
import { listShownFiles } from './page-queries.ts'

/** Replaces the list of an earlier run. */
export async function storeLargeFiles(db: Transaction, { id }: Import, files: LargeFile[]) {
  await db.query(sql`delete from import_large_files where import_id = ${id}`)
  await db.query(sql`
    insert into import_large_files (import_id, place, ref_name, path, oid, size)
    select ${id}, place, file->>'ref_name', file->>'path', file->>'oid', (file->>'size')::bigint
    from jsonb_array_elements(${json(files)}::jsonb) with ordinality as listed (file, place)`)
  return { large_files_count: files.length, large_files_size: files.reduce((sum, { size }) => sum + size, 0) }
}

export async function listLargeFiles(db: Queryable, repo: { id: number }, slice: Slice): Promise<Listed<LargeFile>> {
  const { id, large_files_count: total } = await loadImport(db, repo)
  return { rows: await listShownFiles(db, { id }, slice), total }
}

/** Possible until the commits are written. An import that waits for the choice resumes. */
export async function setLfsPreference(
  db: Transaction,
  editor: { id: number },
  repo: { id: number; archived: boolean },
  use_lfs: Exclude<LfsPreference, 'undecided'>,
): Promise<Import> {
  checkWritable(repo)
  const imported = await lockImportOf(db, repo)
  if (imported.use_lfs === use_lfs) return imported
  if (imported.status === 'pushing' || imported.status === 'complete') {
    throw refused('It is too late to choose, because the commits are written. Restart the import to choose again.', 'use_lfs')
  }
  if (imported.status === 'mapping')
    return changeStatus(db, editor, imported, 'lfs_chosen', { use_lfs, run: imported.run + 1, active: true })
  await db.query(sql`update imports set use_lfs = ${use_lfs}, updated_at = ${db.now} where id = ${imported.id}`)
  return { ...imported, use_lfs }
}
