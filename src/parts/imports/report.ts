import { type Queryable, sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import type { CommitAuthor, Report } from './import-row.ts'
import { loadImport } from './import-store.ts'

export async function loadReport(db: Queryable, repo: { id: number }): Promise<Report> {
  const found = await loadImport(db, repo)
  if (!found.report) throw missing()
  const mapped_authors = await db.rows<CommitAuthor>(sql`
    select id, remote_id, remote_name, name, email from import_authors
    where import_id = ${found.id} and (name, email) is distinct from (original_name, original_email) order by id`)
  return { ...found, report: found.report, mapped_authors }
}
