import type { Repository } from '#hosting/repositories/repositories.ts'
import { empty, type Queryable, sql } from '#platform/database.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

export interface Label {
  id: number
  name: string
  /** Six hexadecimal digits, without `#`. */
  color: string
  description: string | null
}

export const labelColumns = sql`l.id, l.name, l.color, l.description`

export function listLabels(db: Queryable, repo: Repository, slice: Slice): Promise<Listed<Label>> {
  const source = sql`labels l where l.repo_id = ${repo.id}`
  return listed(db, { columns: labelColumns, source, order: sql`lower(l.name)` }, slice)
}

/** Labels by id, without a check of access: the caller has checked it. */
export function loadLabels(db: Queryable, ids: number[]): Promise<Label[]> {
  return db.rows(sql`select ${labelColumns} from labels l where l.id = any(${ids})`)
}

export async function loadLabel(db: Queryable, repo: Repository, name: string): Promise<Label> {
  return db.load<Label>(sql`
    select ${labelColumns} from labels l where l.repo_id = ${repo.id} and lower(l.name) = lower(${name})`)
}

export interface CountedLabel extends Label {
  open_issues: number
  open_pulls: number
}

/** Labels whose name or description contains a text, with the number of open issues and pull requests that have them. */
export function listCountedLabels(db: Queryable, repo: Repository, q: string, slice: Slice): Promise<Listed<CountedLabel>> {
  const words = q === '' ? empty : sql`and position(lower(${q}) in lower(concat_ws(' ', l.name, l.description))) > 0`
  const counted = sql`(
    select json_build_object('issues', count(*) filter (where p.id is null), 'pulls', count(p.id))
    from issue_labels b join issues i on i.id = b.issue_id left join pulls p on p.issue_id = i.id
    where b.label_id = l.id and i.state = 'open')`
  const source = sql`labels l where l.repo_id = ${repo.id} ${words}`
  return listed<Label & { counted: { issues: number; pulls: number } }>(
    db,
    { columns: sql`${labelColumns}, ${counted} as counted`, source, order: sql`lower(l.name)` },
    slice,
  ).then(({ rows, total }) => ({
    rows: rows.map(({ counted: { issues, pulls }, ...label }) => ({ ...label, open_issues: issues, open_pulls: pulls })),
    total,
  }))
}

/** A label by its id, if it belongs to the repository. */
export function findLabel(db: Queryable, repo: Repository, id: number): Promise<Label> {
  return db.load<Label>(sql`select ${labelColumns} from labels l where l.repo_id = ${repo.id} and l.id = ${id}`)
}
