import { type Database, empty, type Sql, sql } from '#platform/database.ts'

/** Rows of one kind in an archive. Columns are named one by one, so that no secret of a table gets into an archive. */
export interface Records {
  /** The name of the file, without its suffix. */
  name: string
  columns: Sql
  /** With its `where`. */
  source: Sql
  /** Orders the rows, along an index if there may be many. */
  key: Key[]
}

interface Key {
  column: Sql
  type: Sql
}

const bigint = sql`bigint`
export const byId = (column: Sql): Key[] => [{ column, type: bigint }]

/** Rows of a page. A text has up to 65,536 characters, so a page stays below some megabytes, and usually below one. */
const perPage = 200

/**
 * Yields pages, each read by its own statement after the last row of the one before. So an export holds neither a transaction nor many rows,
 * and every page is read with the access that the user has then.
 */
export async function* readPages(db: Database, { columns, source, key }: Records): AsyncGenerator<object[], void, void> {
  const columnsOf = list(key.map(({ column }) => column))
  let after: string[] | undefined
  for (;;) {
    const later = after
      ? sql`and (${columnsOf}) > (${list(key.map(({ type }, index) => sql`${after?.[index]}::${type}`))})`
      : empty
    const texts = list(key.map(({ column }) => sql`(${column})::text`))
    const statement = sql`
      select ${columns}, array[${texts}] as page_key from ${source} ${later} order by ${columnsOf} limit ${perPage}`
    const rows = await db.withBackgroundTimeouts(() => db.customPlanRows<{ page_key: string[] }>(statement))
    if (rows.length) yield rows.map(({ page_key: _, ...row }) => row)
    if (rows.length < perPage) return
    after = rows.at(-1)?.page_key
  }
}

const list = (parts: Sql[]) => parts.reduce((all, part) => sql`${all}, ${part}`)

const labels = sql`array(select l.name from issue_labels x join labels l on l.id = x.label_id where x.issue_id = i.id order by lower(l.name)) as labels`
const assignees = sql`array(select a.login from issue_assignees x join accounts a on a.id = x.user_id where x.issue_id = i.id order by lower(a.login)) as assignees`
export const issueColumns = sql`i.id, i.number, i.title, i.body, i.state, i.state_reason, i.locked, ${labels}, ${assignees},
  (select m.title from milestones m where m.id = i.milestone_id) as milestone, i.created_at, i.updated_at, i.closed_at`
export const pullColumns = sql`p.draft, p.head_ref, p.head_sha, p.base_ref, p.base_sha, p.merged_at, p.merge_commit_sha`
