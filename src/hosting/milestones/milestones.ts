import { personOf } from '#hosting/issues/authors.ts'
import { type Label, labelColumns } from '#hosting/labels/labels.ts'
import type { Account, Person } from '#hosting/people/people.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { codeOf, type Listed, listed, type Queryable, type Slice, type Sql, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'

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

/** Milestones by id, whoever asks: for what shows them in passing. */
export function loadMilestones(db: Queryable, ids: number[]): Promise<Milestone[]> {
  return db.rows(sql`select ${columns} from milestones m where m.id = any(${ids})`)
}

export async function loadMilestone(db: Queryable, repo: Repository, number: number): Promise<Milestone> {
  const found = await db.first<Milestone>(
    sql`select ${columns} from milestones m where m.repo_id = ${repo.id} and m.number = ${number}`,
  )
  if (!found) throw missing()
  return found
}

/** Labels of the issues of a milestone, each once. */
export function listMilestoneLabels(db: Queryable, { id }: Milestone, slice: Slice): Promise<Listed<Label>> {
  const source = sql`labels l where exists (
    select from issue_labels b join issues i on i.id = b.issue_id where b.label_id = l.id and i.milestone_id = ${id})`
  return listed(db, { columns: labelColumns, source, order: sql`lower(l.name)` }, slice)
}

export interface MilestoneChanges {
  title?: string
  description?: string | null
  state?: 'open' | 'closed'
  due_on?: Date | null
}

export async function createMilestone(
  db: Transaction,
  repo: Repository,
  creator: Account,
  { title, description = null, state = 'open', due_on = null }: MilestoneChanges & { title: string },
): Promise<Milestone> {
  const taken = await db.first<{ number: number }>(sql`
    update repositories set last_milestone_number = last_milestone_number + 1 where id = ${repo.id}
    returning last_milestone_number as number`)
  if (!taken) throw missing()
  await write(
    db,
    sql`
    insert into milestones (repo_id, number, creator_id, title, description, state, due_on, created_at, updated_at, closed_at)
    values (${repo.id}, ${taken.number}, ${creator.id}, ${checkTitle(title)}, ${description}, ${state}, ${due_on}, ${db.now}, ${db.now},
      ${state === 'closed' ? db.now : null})`,
  )
  return loadMilestone(db, repo, taken.number)
}

export async function updateMilestone(
  db: Transaction,
  repo: Repository,
  { id, number }: Milestone,
  changes: MilestoneChanges,
): Promise<Milestone> {
  const held = await db.first<Milestone>(sql`select * from milestones where id = ${id} for no key update`)
  if (!held) throw missing()
  const next = { ...held, ...changes }
  const closed_at = next.state === 'open' ? null : (held.closed_at ?? db.now)
  await write(
    db,
    sql`
    update milestones set title = ${checkTitle(next.title)}, description = ${next.description}, state = ${next.state},
      due_on = ${next.due_on}, updated_at = ${db.now}, closed_at = ${closed_at} where id = ${id}`,
  )
  return loadMilestone(db, repo, number)
}

/** Its issues stay, without one. */
export async function deleteMilestone(db: Transaction, { id }: Milestone) {
  const { rowCount } = await db.query(sql`delete from milestones where id = ${id}`)
  if (!rowCount) throw missing()
}

function checkTitle(title: string) {
  if (title.trim() === '') throw invalid({ resource: 'Milestone', code: 'missing_field', field: 'title' })
  return title.trim()
}

async function write(db: Transaction, statement: Sql) {
  try {
    await db.query(statement)
  } catch (error) {
    throw codeOf(error) === '23505' ? invalid({ resource: 'Milestone', code: 'already_exists', field: 'title' }) : error
  }
}
