import type { Repository } from '#hosting/repositories/repositories.ts'
import { type Queryable, sql } from '#platform/database.ts'
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
