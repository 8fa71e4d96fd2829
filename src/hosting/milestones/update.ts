import type { Act } from '#activity/acts.ts'
import { publish } from '#activity/publish.ts'
import { changesOf } from '#hosting/payloads/edited-fields.ts'
import { keptId } from '#hosting/repositories/deletion-lock.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { timestamp } from '#http/serialization.ts'
import type { Account } from '#identity/accounts.ts'
import { ifDuplicate, sql, type Transaction } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import { loadMilestone, type Milestone } from './milestones.ts'

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
  const taken = await db.load<{ number: number }>(sql`
    update repositories set last_milestone_number = last_milestone_number + 1 where id = ${repo.id}
    returning last_milestone_number as number`)
  await db
    .query(sql`
    insert into milestones (repo_id, number, creator_id, title, description, state, due_on, created_at, updated_at, closed_at)
    values (${repo.id}, ${taken.number}, ${creator.id}, ${checkTitle(title)}, ${description}, ${state}, ${due_on}, ${db.now}, ${db.now},
      ${state === 'closed' ? db.now : null})`)
    .catch(titleTaken)
  const made = await loadMilestone(db, repo, taken.number)
  const milestone_id = made.id
  const closed: Act[] = state === 'closed' ? [{ act: 'milestone.closed', milestone_id }] : []
  await publish(db, creator, repo, { act: 'milestone.created', milestone_id }, ...closed)
  return made
}

export async function updateMilestone(
  db: Transaction,
  repo: Repository,
  editor: Account,
  { id, number }: Milestone,
  changes: MilestoneChanges,
): Promise<Milestone> {
  const held = await db.load<Milestone>(
    sql`select * from milestones where id = ${id} and repo_id = ${keptId(repo)} for no key update`,
  )
  const next = { ...held, ...changes }
  const closed_at = next.state === 'open' ? null : (held.closed_at ?? db.now)
  await db
    .query(sql`
    update milestones set title = ${checkTitle(next.title)}, description = ${next.description}, state = ${next.state},
      due_on = ${next.due_on}, updated_at = ${db.now}, closed_at = ${closed_at} where id = ${id}`)
    .catch(titleTaken)
  const after = await loadMilestone(db, repo, number)
  await publish(db, editor, repo, ...changeActs(held, after))
  return after
}

function changeActs(before: Milestone, after: Milestone): Act[] {
  const milestone_id = before.id
  const changes = changesOf(deliveredFields(before), deliveredFields(after), 'title', 'description', 'due_on')
  const edited: Act[] = changes ? [{ act: 'milestone.edited', milestone_id, changes }] : []
  if (before.state === after.state) return edited
  return [...edited, { act: after.state === 'open' ? 'milestone.opened' : 'milestone.closed', milestone_id }]
}

const deliveredFields = ({ title, description, due_on }: Milestone) => ({
  title,
  description,
  due_on: due_on && timestamp(due_on),
})

/** Its issues remain, without a milestone. */
export async function deleteMilestone(db: Transaction, repo: Repository, editor: Account, { id }: Milestone) {
  await db.load(sql`select id from milestones where id = ${id} and repo_id = ${keptId(repo)} for update`)
  await publish(db, editor, repo, { act: 'milestone.deleted', milestone_id: id })
  await db.query(sql`delete from milestones where id = ${id}`)
}

function checkTitle(title: string) {
  if (title.trim() === '') throw invalid({ resource: 'Milestone', code: 'missing_field', field: 'title' })
  return title.trim()
}

const titleTaken = ifDuplicate(() => invalid({ resource: 'Milestone', code: 'already_exists', field: 'title' }))
