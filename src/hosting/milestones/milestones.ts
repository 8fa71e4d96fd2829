import { personOf } from '#hosting/issues/authors.ts'
import { type Label, labelColumns } from '#hosting/labels/labels.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Person } from '#identity/accounts.ts'
import { type Queryable, type Sql, sql } from '#platform/database.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

export interface Milestone {
  id: number
  number: number
  creator: Person | null
  title: string
  description: string | null
  state: 'open' | 'closed'
  open_issues: number
  closed_issues: number
  due_on: Date | null
  created_at: Date
  updated_at: Date
  closed_at: Date | null
}

const columns = sql`m.*, ${personOf(sql`m.creator_id`)} as creator`

const done = sql`m.closed_issues::real / greatest(m.open_issues + m.closed_issues, 1)`
const orders: Record<string, Sql> = {
  'due_on asc': sql`m.due_on nulls last, m.number`,
  'due_on desc': sql`m.due_on desc nulls last, m.number desc`,
  'completeness asc': sql`${done}, m.number`,
  'completeness desc': sql`${done} desc, m.number desc`,
}

export interface MilestoneFilter {
  state: 'open' | 'closed' | 'all'
  sort: 'due_on' | 'completeness'
  direction: 'asc' | 'desc'
}

export function listMilestones(
  db: Queryable,
  repo: Repository,
  { state, sort, direction }: MilestoneFilter,
  slice: Slice,
): Promise<Listed<Milestone>> {
  const source = sql`milestones m where m.repo_id = ${repo.id} and ${state} in ('all', m.state)`
  return listed(db, { columns, source, order: orders[`${sort} ${direction}`] ?? sql`m.number` }, slice)
}

export async function countMilestones(db: Queryable, repo: Repository): Promise<{ open: number; closed: number }> {
  return db.load(sql`
    select count(*) filter (where state = 'open')::int as open, count(*) filter (where state = 'closed')::int as closed
    from milestones where repo_id = ${repo.id}`)
}

/** Milestones by id, without a check of access: the caller has checked it. */
export function loadMilestones(db: Queryable, ids: number[]): Promise<Milestone[]> {
  return db.rows(sql`select ${columns} from milestones m where m.id = any(${ids})`)
}

export async function loadMilestone(db: Queryable, repo: Repository, number: number): Promise<Milestone> {
  return db.load<Milestone>(sql`select ${columns} from milestones m where m.repo_id = ${repo.id} and m.number = ${number}`)
}

/** Distinct labels of the issues of a milestone. */
export function listMilestoneLabels(db: Queryable, { id }: Milestone, slice: Slice): Promise<Listed<Label>> {
  const source = sql`labels l where exists (
    select from issue_labels b join issues i on i.id = b.issue_id where b.label_id = l.id and i.milestone_id = ${id})`
  return listed(db, { columns: labelColumns, source, order: sql`lower(l.name)` }, slice)
}
