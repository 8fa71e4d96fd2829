import { type Queryable, sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import type { CommitAuthor } from './authors.ts'
import { type Import, type KeptReport, loadImport } from './import-store.ts'

export interface Report extends Import {
  report: KeptReport
  /** Those whose commits are by others than the source says. */
  mapped_authors: CommitAuthor[]
}

/** What came of an import, once that is known. */
export async function loadReport(db: Queryable, repo: { id: number }): Promise<Report> {
  const found = await loadImport(db, repo)
  if (!found.report) throw missing()
  const mapped_authors = await db.rows<CommitAuthor>(sql`
    select id, remote_id, remote_name, name, email from import_authors
    where import_id = ${found.id} and (name, email) is distinct from (original_name, original_email) order by id`)
  return { ...found, report: found.report, mapped_authors }
}
