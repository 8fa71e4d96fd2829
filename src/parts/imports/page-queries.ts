import type { LargeFile } from '#importer/steps.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import type { CommitAuthor, Import } from './import-row.ts'

export function findImport(db: Queryable, repo: { id: number }): Promise<Import | undefined> {
  return db.first<Import>(sql`select * from imports where repo_id = ${repo.id}`)
}

/** Whether the repository has branches or tags. */
export async function hasContents(db: Queryable, repo: { id: number }): Promise<boolean> {
  const { rowCount } = await db.query(sql`
    select from refs where repo_id = ${repo.id} and name ~ '^refs/(heads|tags)/' limit 1`)
  return rowCount !== 0
}

export interface ShownAuthor extends CommitAuthor {
  corrected: boolean
}

/** The authors whose names, ids or emails contain the text, in the order in which they were found. */
export function listShownAuthors(db: Queryable, { id }: Import, words: string, slice: Slice): Promise<Listed<ShownAuthor>> {
  const matches = sql`position(lower(${words}) in lower(concat_ws(' ', remote_name, remote_id, name, email))) > 0`
  const columns = sql`id, remote_id, remote_name, name, email, (name, email) is distinct from (original_name, original_email) as corrected`
  return listed(
    db,
    { columns, source: sql`import_authors where import_id = ${id} and ${words ? matches : sql`true`}`, order: sql`id` },
    slice,
  )
}

export function listShownFiles(db: Queryable, { id }: { id: number }, { limit, offset }: Slice): Promise<LargeFile[]> {
  return db.rows(sql`
    select ref_name, path, oid, size from import_large_files where import_id = ${id} order by place limit ${limit} offset ${offset}`)
}

/** Differs whenever the page would. */
export async function readMark(db: Queryable, repo: { id: number }): Promise<string> {
  const row = await db.first<{ mark: string }>(sql`
    select concat_ws(' ', id, run, status, active, correcting, use_lfs, updated_at, published is null, coalesce(percent, -1),
      coalesce(push_percent, -1), coalesce(commit_count, -1), authors_count, large_files_count,
      jsonb_array_length(coalesce(left_out, '[]'))) as mark
    from imports where repo_id = ${repo.id}`)
  return row?.mark ?? 'none'
}
