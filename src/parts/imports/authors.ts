import { checkWritable } from '#identity/access.ts'
import type { Correction } from '#importer/steps.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { type CommitAuthor, correctionFailure, type Import } from './import-row.ts'
import { checkUntouched, importsTopic, loadImport, lockImportOf } from './import-store.ts'

const columns = sql`id, remote_id, remote_name, name, email`

/** In the order in which they were found. `since` is the id of the last one that the caller has. */
export async function listAuthors(
  db: Queryable,
  repo: { id: number },
  since: number,
  slice: Slice,
): Promise<Listed<CommitAuthor>> {
  const { id } = await loadImport(db, repo)
  return listed(db, { columns, source: sql`import_authors where import_id = ${id} and id > ${since}`, order: sql`id` }, slice)
}

/** Sets the name and email for the commits of an author. Commits that are already written are rewritten, unless there was a push. */
export async function mapAuthor(
  db: Transaction,
  repo: { id: number; archived: boolean },
  author_id: number,
  changes: { email?: string | undefined; name?: string | undefined },
): Promise<CommitAuthor> {
  checkWritable(repo)
  const imported = await lockImportOf(db, repo)
  const author = await db.first<CommitAuthor>(sql`
    select ${columns} from import_authors where id = ${author_id} and import_id = ${imported.id}`)
  if (!author) throw missing()
  const next = { ...author, name: readName(changes.name) ?? author.name, email: readEmail(changes.email) ?? author.email }
  if (imported.status === 'complete') checkUntouched(imported)
  // After a failure, sending the same mapping again retries it.
  const failed = correctionFailure(imported) !== null
  if (next.name === author.name && next.email === author.email && !failed) return author
  await db.query(sql`update import_authors set name = ${next.name}, email = ${next.email} where id = ${author.id}`)
  await requestCorrection(db, imported)
  return next
}

/** Has the commits rewritten, if any are written. */
export async function requestCorrection(db: Transaction, { id, status }: Import) {
  if (status !== 'mapping' && status !== 'pushing' && status !== 'complete') return
  await db.query(sql`
    update imports set correcting = true, active = active or status = 'complete', message = null, updated_at = ${db.now}
    where id = ${id}`)
  db.touch(importsTopic)
}

/** Refuses what git cannot write into a commit or would change. */
export function readName(text: string | undefined) {
  const name = text?.trim()
  if (name !== undefined && !/^[^<>\p{Cc}]{1,255}$/u.test(name))
    throw invalidField('name', 'name must be 1 to 255 characters without < and >')
  return name?.toWellFormed()
}

export function readEmail(text: string | undefined) {
  const email = text?.trim()
  if (email !== undefined && (email.length > 255 || !/^[^<>\s\p{Cc}@]+@[^<>\s\p{Cc}@]+$/u.test(email))) {
    throw invalidField('email', 'email must be an address such as ada@example.com')
  }
  return email?.toWellFormed()
}

const invalidField = (field: string, message: string) => invalid({ resource: 'CommitAuthor', code: 'custom', field, message })

/** The corrections for the next rewrite. A correction that is made later sets `correcting` again. */
export async function takeCorrections(db: Transaction, { id, run }: { id: number; run: number }): Promise<Correction[]> {
  await db.query(sql`update imports set correcting = false where id = ${id} and run = ${run}`)
  return db.rows(sql`
    select original_name, original_email, name, email from import_authors
    where import_id = ${id} and (name, email) is distinct from (original_name, original_email) order by id`)
}
