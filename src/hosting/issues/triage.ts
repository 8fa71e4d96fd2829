import type { Act } from '#activity/acts.ts'
import { findLabelIds } from '#hosting/labels/update.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account } from '#identity/accounts.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { invalid, Refusal } from '#platform/errors.ts'
import { findAssignable } from './assignees.ts'
import { type ActedOn, actOn } from './issue-act.ts'
import { mayPush } from './rights.ts'

/** Assignees and labels. Each verb takes a locked issue, and returns the acts of what really changed. */
type Held = ActedOn

export async function addLabels(db: Transaction, repo: Repository, editor: Account, issue: Held, names: string[]) {
  return putLabels(db, issue, await findLabelIds(db, repo, editor, names, mayPush(repo)))
}

export async function setLabels(db: Transaction, repo: Repository, editor: Account, issue: Held, names: string[]) {
  const ids = await findLabelIds(db, repo, editor, names, mayPush(repo))
  const removed = await db.rows<{ label_id: number }>(sql`
    with removed as (delete from issue_labels where issue_id = ${issue.id} and label_id <> all(${ids}::bigint[]) returning label_id)
    select label_id from removed order by label_id`)
  return [...labelActs('unlabeled', issue, removed), ...(await putLabels(db, issue, ids))]
}

/** Refuses a label that the issue does not have. */
export async function removeLabel(db: Transaction, repo: Repository, issue: Held, name: string): Promise<Act[]> {
  const removed = await db.rows<{ label_id: number }>(sql`
    delete from issue_labels b using labels l
    where b.issue_id = ${issue.id} and l.id = b.label_id and l.repo_id = ${repo.id} and lower(l.name) = lower(${name}) returning label_id`)
  if (!removed.length) throw new Refusal('missing', 'Label does not exist')
  return labelActs('unlabeled', issue, removed)
}

const mostLabels = 100

async function putLabels(db: Transaction, issue: Held, ids: number[]): Promise<Act[]> {
  // `before` does not see the labels that the same statement adds.
  const added = await db.rows<{ label_id: number; before: number }>(sql`
    with added as (
      insert into issue_labels (issue_id, label_id) select ${issue.id}, unnest(${ids}::bigint[]) on conflict do nothing returning label_id)
    select label_id, (select count(*)::integer from issue_labels where issue_id = ${issue.id}) as before from added`)
  if (added[0] && added[0].before + added.length > mostLabels) throw tooMany('labels', mostLabels)
  return labelActs('labeled', issue, added)
}

const labelActs = (action: 'labeled' | 'unlabeled', issue: Held, rows: { label_id: number }[]) =>
  rows.map(({ label_id }) => ({ ...actOn(issue, action), label_id }))

/** Users who cannot be assigned are ignored. */
export async function addAssignees(db: Transaction, repo: Repository, issue: Held, logins: string[]): Promise<Act[]> {
  const found = await findAssignable(db, repo, logins)
  return putAssignees(
    db,
    issue,
    found.flatMap(({ id }) => id ?? []),
  )
}

/** Refuses a user who cannot be assigned and is not assigned already. */
export async function setAssignees(db: Transaction, repo: Repository, issue: Held, logins: string[]): Promise<Act[]> {
  const found = await findAssignable(db, repo, logins, issue)
  const wrong = found.find(({ id }) => id === null)
  if (wrong) {
    const message = `'${wrong.login}' cannot be assigned here`
    throw invalid({ resource: 'Issue', code: 'invalid', field: 'assignees', message })
  }
  const ids = found.flatMap(({ id }) => id ?? [])
  const removed = await db.rows<{ user_id: number }>(sql`
    with removed as (delete from issue_assignees where issue_id = ${issue.id} and user_id <> all(${ids}::bigint[]) returning user_id)
    select user_id from removed order by user_id`)
  return [...assigneeActs('unassigned', issue, removed), ...(await putAssignees(db, issue, ids))]
}

export async function removeAssignees(db: Transaction, issue: Held, logins: string[]): Promise<Act[]> {
  const removed = await db.rows<{ user_id: number }>(sql`
    with removed as (
      delete from issue_assignees s using accounts a, unnest(${logins}::text[]) named
      where s.issue_id = ${issue.id} and a.id = s.user_id and lower(a.login) = lower(named) returning s.user_id)
    select user_id from removed order by user_id`)
  return assigneeActs('unassigned', issue, removed)
}

const mostAssignees = 10

async function putAssignees(db: Transaction, issue: Held, ids: number[]): Promise<Act[]> {
  const added = await db.rows<{ user_id: number }>(sql`
    insert into issue_assignees (issue_id, user_id, assigned_at) select ${issue.id}, unnest(${ids}::bigint[]), ${db.now}::timestamptz
    on conflict do nothing returning user_id`)
  const { rowCount } = await db.query(sql`select from issue_assignees where issue_id = ${issue.id} limit ${mostAssignees + 1}`)
  if ((rowCount ?? 0) > mostAssignees) throw tooMany('assignees', mostAssignees)
  return assigneeActs('assigned', issue, added)
}

const assigneeActs = (action: 'assigned' | 'unassigned', issue: Held, rows: { user_id: number }[]) =>
  rows.map(({ user_id }) => ({ ...actOn(issue, action), assignee_id: user_id }))

const tooMany = (field: string, most: number) =>
  invalid({ resource: 'Issue', code: 'custom', field, message: `an issue has ${most} ${field} at most` })
