import { checkWritable } from '#identity/access.ts'
import { type CsvRow, readCsv } from '#platform/csv.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { invalid, Refusal } from '#platform/errors.ts'
import { readEmail, readName, requestCorrection } from './authors.ts'
import { correctionFailure } from './import-row.ts'
import { checkUntouched, loadImport, lockImportOf } from './import-store.ts'

/** In bytes of the file. */
export const longestCsv = 4 << 20
const header = ['remote_id', 'name', 'email']

/** All authors of an import as CSV (RFC 4180), with the names and emails of their commits. */
export async function writeAuthorsCsv(db: Queryable, repo: { id: number }): Promise<string> {
  const { id } = await loadImport(db, repo)
  const rows = await db.rows<Record<string, string>>(sql`
    select remote_id, name, email from import_authors where import_id = ${id} order by id`)
  return [header, ...rows.map((row) => header.map((column) => row[column] ?? ''))].map(writeRow).join('')
}

const writeRow = (fields: string[]) => `${fields.map(quote).join(',')}\r\n`

const quote = (field: string) => (/[",\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)

/** Sets the names and emails of the authors in the file; others stay. All lines are applied, or none. Returns how many authors changed. */
export async function applyAuthorsCsv(db: Transaction, repo: { id: number; archived: boolean }, text: string): Promise<number> {
  checkWritable(repo)
  const imported = await lockImportOf(db, repo)
  if (imported.status === 'complete') checkUntouched(imported)
  const ids = new Map(
    (
      await db.rows<{ id: number; remote_id: string }>(
        sql`select id, remote_id from import_authors where import_id = ${imported.id}`,
      )
    ).map((author) => [author.remote_id, author.id] as const),
  )
  const wanted = new Map<number, { name: string; email: string }>()
  for (const row of readRows(text)) {
    const { remote_id, ...values } = readAuthor(row)
    const id = ids.get(remote_id)
    if (id === undefined) throw wrongLine(row, `the import has no author ${JSON.stringify(remote_id.slice(0, 100))}`)
    if (wanted.has(id)) throw wrongLine(row, `the author ${JSON.stringify(remote_id.slice(0, 100))} is in the file twice`)
    wanted.set(id, values)
  }
  const values = [...wanted.values()]
  const { rowCount } = await db.query(sql`
    update import_authors a set name = w.name, email = w.email
    from unnest(${[...wanted.keys()]}::bigint[], ${values.map(({ name }) => name)}::text[], ${values.map(({ email }) => email)}::text[])
      as w(id, name, email)
    where a.id = w.id and (a.name, a.email) is distinct from (w.name, w.email)`)
  const changed = rowCount ?? 0
  // After a failure, sending the same file again retries it.
  if (changed > 0 || correctionFailure(imported) !== null) await requestCorrection(db, imported)
  return changed
}

function readAuthor(row: CsvRow): { remote_id: string; name: string; email: string } {
  const [remote_id = '', name, email, ...others] = row.fields
  if (name === undefined || email === undefined || others.length > 0)
    throw wrongLine(row, `it must have the fields ${header.join(', ')}, and has ${row.fields.length}`)
  try {
    return { remote_id, name: readName(name) ?? '', email: readEmail(email) ?? '' }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw wrongLine(row, error.faults?.[0]?.message ?? error.message)
  }
}

const wrongLine = ({ line }: CsvRow, why: string) =>
  invalid({ resource: 'CommitAuthor', code: 'custom', field: 'authors', message: `line ${line}: ${why}` })

/** Without the header. */
function* readRows(text: string): Generator<CsvRow> {
  for (const row of readCsv(text, wrongLine)) if (row.line !== 1 || row.fields.join().toLowerCase() !== header.join()) yield row
}
