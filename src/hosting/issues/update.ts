import type { Act } from '#activity/acts.ts'
import { publish } from '#activity/publish.ts'
import { recordReferences } from '#hosting/mentions/cross-references.ts'
import { changesOf } from '#hosting/payloads/edited-fields.ts'
import { reopenPull } from '#hosting/pulls/reopening.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { checkAccess } from '#identity/access.ts'
import type { Account, Viewer } from '#identity/accounts.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import { type ActedOn, actOn } from './issue-act.ts'
import { type Issue, insertedIssue, loadIssue, lockIssue, type StateReason, touchIssue } from './issues.ts'
import { checkMayEdit, mayTriage } from './rights.ts'
import { addLabels, setAssignees, setLabels } from './triage.ts'

export interface NewIssue {
  title: string
  body?: string | null
  /** The fields below need triage access, and are ignored without it. */
  labels?: string[]
  assignees?: string[]
  milestone?: number | null
}

export interface IssueChanges extends Partial<NewIssue> {
  state?: 'open' | 'closed'
  state_reason?: StateReason | null
}

/** Returns the issue without its labels, assignees and milestone: a caller that shows them loads it. */
export async function createIssue(
  db: Transaction,
  viewer: Viewer,
  repo: Repository,
  author: Account,
  wanted: NewIssue,
): Promise<Issue> {
  const { labels, assignees, milestone } = mayTriage(repo) ? wanted : ({} as NewIssue)
  const title = checkTitle(wanted.title)
  const milestone_id = milestone == null ? null : await findMilestone(db, repo, milestone)
  // Locks the repository, so that concurrent openings take turns and the number of a failed one is used again.
  const made = await insertedIssue(
    db,
    sql`update repositories set last_issue_number = last_issue_number + 1 where id = ${repo.id} returning last_issue_number`,
    sql`insert into issues (repo_id, number, author_id, title, body, milestone_id, created_at, updated_at)
      select ${repo.id}, last_issue_number, ${author.id}, ${title}, ${wanted.body ?? null}, ${milestone_id}::bigint, ${db.now}, ${db.now}
      from taken`,
  )
  const issue = { id: made.id, pull_id: null }
  const assigned = assignees ? await setAssignees(db, repo, issue, assignees) : []
  const labeled = labels ? await addLabels(db, repo, author, issue, labels) : []
  const opened = { ...actOn(issue, 'opened'), body: wanted.body ?? null }
  const acts = [opened, ...milestoneActs(issue, null, milestone_id), ...assigned, ...labeled]
  await publish(db, author, repo, ...acts)
  await recordReferences(db, viewer, repo, author, { issue_id: issue.id }, wanted.body ?? null)
  return made
}

/** Changes the given fields only. */
export async function updateIssue(
  db: Transaction,
  viewer: Viewer,
  repo: Repository,
  editor: Account,
  number: number,
  changes: IssueChanges,
) {
  const held = await lockIssue(db, repo, number)
  checkMayChange(repo, editor, held, changes)
  const { labels, assignees, milestone } = mayTriage(repo) ? changes : ({} as IssueChanges)
  const milestone_id =
    milestone === undefined ? held.milestone_id : milestone === null ? null : await findMilestone(db, repo, milestone)
  const { title = held.title, body = held.body } = changes
  const said = { title: checkTitle(title), body }
  const next = nextState(held, changes)
  const moved = next.state !== held.state
  const closed = next.state === 'closed'
  if (moved && !closed && held.pull_id !== null) await reopenPull(db, viewer, held.pull_id, editor)
  await db.query(sql`
    update issues set title = ${said.title}, body = ${said.body}, state = ${next.state}, state_reason = ${next.state_reason},
      editor_id = case when body is distinct from ${said.body} then ${editor.id} else editor_id end,
      milestone_id = ${milestone_id}, updated_at = greatest(updated_at, ${db.now}),
      closed_at = case when ${moved} then ${closed ? db.now : null}::timestamptz else closed_at end,
      closed_by_id = case when ${moved} then ${closed ? editor.id : null}::bigint else closed_by_id end
    where id = ${held.id}`)
  const assigned = assignees ? await setAssignees(db, repo, held, assignees) : []
  const labeled = labels ? await setLabels(db, repo, editor, held, labels) : []
  const moves: Act[] = moved ? [{ ...actOn(held, closed ? 'closed' : 'reopened'), state_reason: next.state_reason }] : []
  const sorted = [...milestoneActs(held, held.milestone_id, milestone_id), ...assigned, ...labeled]
  await publish(db, editor, repo, ...editActs(held, said), ...sorted, ...moves)
  if (body !== held.body) await recordReferences(db, viewer, repo, editor, { issue_id: held.id }, body)
  return loadIssue(db, repo, number)
}

type Written = Pick<Issue, 'title' | 'body'>

function editActs(before: ActedOn & Written, { title, body }: Written): Act[] {
  const changes = changesOf<Written>(before, { title, body }, 'title', 'body')
  if (!changes) return []
  const edited = { ...actOn(before, 'edited'), body, changes }
  const renamed = { ...actOn(before, 'renamed'), renamed_from: before.title, renamed_to: title }
  return before.title === title ? [edited] : [edited, renamed]
}

/** From one milestone to another; either may be null. */
function milestoneActs(issue: ActedOn, before: number | null, after: number | null): Act[] {
  if (before === after) return []
  const left = before === null ? [] : [{ ...actOn(issue, 'demilestoned'), milestone_id: before }]
  return after === null ? left : [...left, { ...actOn(issue, 'milestoned'), milestone_id: after }]
}

/** Triage access can close an issue. Only its author and users with push access can edit title and body. */
function checkMayChange(repo: Repository, editor: Account, { author }: Issue, { title, body }: IssueChanges) {
  if (title !== undefined || body !== undefined) checkMayEdit(repo, editor, author)
  else if (author?.id !== editor.id) checkAccess(repo.access, 'triage')
}

function nextState(held: Issue, { state = held.state, state_reason }: IssueChanges): Pick<Issue, 'state' | 'state_reason'> {
  if (held.pull_id !== null) return { state, state_reason: null }
  if (state === 'open') return { state, state_reason: held.state === 'open' ? held.state_reason : 'reopened' }
  const given = state_reason === 'reopened' ? undefined : state_reason
  return { state, state_reason: given ?? (held.state === 'closed' ? held.state_reason : 'completed') }
}

/** Changes assignees or labels of a locked issue, and publishes what really changed. */
export async function triageIssue(
  db: Transaction,
  repo: Repository,
  editor: Account,
  number: number,
  act: (held: Issue) => Promise<Act[]>,
): Promise<Issue> {
  const held = await lockIssue(db, repo, number)
  const acts = await act(held)
  if (!acts.length) return held
  await touchIssue(db, held)
  await publish(db, editor, repo, ...acts)
  return loadIssue(db, repo, number)
}

/** A locked issue accepts comments with push access only. */
export async function setLock(
  db: Transaction,
  repo: Repository,
  editor: Account,
  number: number,
  locked: boolean,
  reason: string | null,
) {
  const held = await lockIssue(db, repo, number)
  const { id } = held
  await db.query(sql`update issues set locked = ${locked}, lock_reason = ${reason} where id = ${id}`)
  await touchIssue(db, { id })
  if (held.locked === locked) return
  await publish(db, editor, repo, { ...actOn(held, locked ? 'locked' : 'unlocked'), lock_reason: reason })
}

async function findMilestone(db: Queryable, repo: Repository, number: number): Promise<number> {
  const found = await db.first<{ id: number }>(
    sql`select id from milestones where repo_id = ${repo.id} and number = ${number}::bigint`,
  )
  if (!found) throw invalid({ resource: 'Issue', code: 'invalid', field: 'milestone' })
  return found.id
}

export function checkTitle(title: string, resource = 'Issue') {
  if (title.trim() === '') throw invalid({ resource, code: 'missing_field', field: 'title' })
  return title.trim()
}
