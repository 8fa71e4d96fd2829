import { type Label, labelColumns } from '#hosting/labels/labels.ts'
import { loadMilestones, type Milestone } from '#hosting/milestones/milestones.ts'
import { type ReactionCounts, reactionCounts } from '#hosting/reactions/reactions.ts'
import { keptId } from '#hosting/repositories/deletion-lock.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { hasAccessByName } from '#hosting/repositories/visibility.ts'
import type { Person, Viewer } from '#identity/accounts.ts'
import { empty, type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { parseIsoDate } from '#platform/iso-date.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { lowerEach } from '#platform/lower-case.ts'
import { associationOf, person, personOf } from './authors.ts'
import { mentioning } from './mentioned.ts'
import { checkEnabled } from './rights.ts'

export interface Issue {
  id: number
  repo_id: number
  number: number
  author: Person | null
  /** Who edited its text last, if someone did. */
  editor: Person | null
  author_association: string
  title: string
  body: string | null
  state: 'open' | 'closed'
  state_reason: StateReason | null
  locked: boolean
  lock_reason: string | null
  milestone_id: number | null
  milestone: Milestone | null
  labels: Label[]
  assignees: Person[]
  comments_count: number
  /** Undefined in events, which show texts as they were. */
  reactions?: ReactionCounts
  created_at: Date
  updated_at: Date
  closed_at: Date | null
  closed_by: Person | null
  /** Not null when the issue is a pull request; the fields below are then set. */
  pull_id: number | null
  draft: boolean | null
  merged_at: Date | null
}

export type StateReason = 'completed' | 'not_planned' | 'duplicate' | 'reopened'

const columns = sql`i.*, ${associationOf(sql`i.author_id`, sql`i.repo_id`)} as author_association,
  ${personOf(sql`i.author_id`)} as author, ${personOf(sql`i.editor_id`)} as editor, ${personOf(sql`i.closed_by_id`)} as closed_by,
  array(select to_json(l) from (select ${labelColumns} from issue_labels b join labels l on l.id = b.label_id
    where b.issue_id = i.id order by lower(l.name)) l) as labels,
  array(select ${person} from issue_assignees s join accounts a on a.id = s.user_id
    where s.issue_id = i.id order by s.assigned_at, a.id) as assignees,
  p.id as pull_id, p.draft, p.merged_at, ${reactionCounts('issue_id', sql`i.id`)} as reactions`

const issues = sql`issues i left join pulls p on p.issue_id = i.id`

/** Runs a statement that inserts an issue and returns its row. The issue has no labels, assignees and milestone yet. */
export async function insertedIssue(db: Transaction, taken: Sql, insert: Sql): Promise<Issue> {
  const made = await db.load<Issue>(sql`
    with taken as (${taken}), i as (${insert} returning *) select ${columns} from i left join pulls p on p.issue_id = i.id`)
  return { ...made, milestone: null }
}

/** Many issues of a page share a milestone, so each milestone is read once. */
async function withMilestones(db: Queryable, issues: Issue[]): Promise<Issue[]> {
  const ids = [...new Set(issues.flatMap(({ milestone_id }) => milestone_id ?? []))]
  const found = new Map(ids.length ? (await loadMilestones(db, ids)).map((milestone) => [milestone.id, milestone]) : [])
  return issues.map((issue) => ({ ...issue, milestone: found.get(issue.milestone_id ?? 0) ?? null }))
}

/** Issues by id, without a check of access: the caller has checked it. */
export async function loadIssues(db: Queryable, ids: number[]): Promise<Issue[]> {
  return withMilestones(db, await db.rows<Issue>(sql`select ${columns} from ${issues} where i.id = any(${ids})`))
}

/** When issues are disabled, pull requests can still be loaded. */
export async function loadIssue(db: Queryable, repo: IssueRepository, number: number): Promise<Issue> {
  const found = await db.rows<Issue>(sql`select ${columns} from ${issues} where i.repo_id = ${repo.id} and i.number = ${number}`)
  const [issue] = await withMilestones(db, found)
  if (!issue?.pull_id) checkEnabled(repo)
  if (!issue) throw missing()
  return issue
}

type IssueRepository = Pick<Repository, 'id' | 'has_issues'>

/** Locks the issue until the transaction ends, so that concurrent changes take turns. */
export async function lockIssue(db: Transaction, repo: IssueRepository, number: number): Promise<Issue> {
  const lock = sql`select from issues where repo_id = ${keptId(repo)} and number = ${number} for no key update`
  await db.query(lock)
  const issue = await loadIssue(db, repo, number)
  return issue
}

/** A transaction that started earlier may commit later, so `updated_at` never decreases. */
export async function touchIssue(db: Transaction, { id }: { id: number }) {
  await db.query(sql`update issues set updated_at = greatest(updated_at, ${db.now}) where id = ${id}`)
}

export interface IssueFilter {
  state: 'open' | 'closed' | 'all'
  /** Names separated by commas; an issue must have all of them. */
  labels: string
  /** An ISO 8601 date; other text does not filter. */
  since: string
  sort: 'created' | 'updated' | 'comments'
  direction: 'asc' | 'desc'
}

export interface RepositoryIssueFilter extends IssueFilter {
  creator: string
  /** A login, `none`, or `*` for any user; for a milestone its number, `none` or `*`. */
  assignee: string
  milestone: string
  /** A login. */
  mentioned?: string
  /** Both kinds by default. */
  only?: 'issues' | 'pulls'
}

export function listIssues(db: Queryable, repo: Repository, filter: RepositoryIssueFilter, slice: Slice): Promise<Listed<Issue>> {
  const { creator, assignee, milestone, mentioned, only } = filter
  const kind = only ? { issues: sql`and p.id is null`, pulls: sql`and p.id is not null` }[only] : empty
  const by = creator === '' ? empty : sql`and i.author_id = (${accountOf(creator)})`
  const source = sql`${issues} where i.repo_id = ${repo.id} ${by} ${assignedTo(assignee)} ${inMilestone(repo, milestone)}
    ${mentioned ? sql`and ${mentioning(mentioned)}` : empty}
    ${kind} ${inState(filter)} ${labelled(filter, sql`l.repo_id = ${repo.id}`)}`
  return readPage(db, source, filter, sql`i.number`, slice)
}

export interface OwnIssueFilter extends IssueFilter {
  filter: 'assigned' | 'created' | 'mentioned' | 'subscribed' | 'all'
}

/** Issues of all repositories visible to the viewer, by the viewer's relation to them. `among` is a condition on the repository `r`. */
export function listOwnIssues(
  db: Queryable,
  viewer: Viewer & { viewer_id: number },
  { filter, ...rest }: OwnIssueFilter,
  slice: Slice,
  among: Sql = empty,
): Promise<Listed<Issue>> {
  const { viewer_id } = viewer
  const assigned = sql`select s.issue_id from issue_assignees s where s.user_id = ${viewer_id}`
  const created = sql`select w.id from issues w where w.author_id = ${viewer_id}`
  const mentioned = sql`select x.issue_id from threads t join notification_subjects x on x.id = t.subject_id
    where t.user_id = ${viewer_id} and t.reason <> 'subscribed' and 'mention' = any(t.reasons)`
  const subscribed = sql`select x.issue_id from thread_subscriptions t join notification_subjects x on x.id = t.subject_id
    where t.user_id = ${viewer_id} and t.state = 'subscribed'`
  const all = sql`${assigned} union ${created} union ${mentioned} union ${subscribed}`
  const which = { assigned, created, mentioned, subscribed, all }[filter]
  const seen = viewer.sees_private ? sql`(not r.private or ${hasAccessByName(viewer)})` : sql`not r.private`
  const source = sql`${issues} join repositories r on r.id = i.repo_id
    where i.id in (${which}) and (r.has_issues or p.id is not null) and ${seen} ${among}
    ${inState(rest)} ${labelled(rest, sql`b.issue_id in (${which})`)}`
  return readPage(db, source, rest, sql`i.id`, slice)
}

const accountOf = (login: string) => sql`select id from accounts where lower(login) = lower(${login})`

function assignedTo(assignee: string): Sql {
  const some = sql`select from issue_assignees s where s.issue_id = i.id`
  if (assignee === '') return empty
  if (assignee === 'none') return sql`and not exists (${some})`
  if (assignee === '*') return sql`and exists (${some})`
  return sql`and exists (${some} and s.user_id = (${accountOf(assignee)}))`
}

function inMilestone(repo: Repository, milestone: string): Sql {
  if (milestone === '') return empty
  if (milestone === 'none') return sql`and i.milestone_id is null`
  if (milestone === '*') return sql`and i.milestone_id is not null`
  if (!/^\d{1,9}$/.test(milestone)) throw invalid({ resource: 'Issue', code: 'invalid', field: 'milestone' })
  return sql`and i.milestone_id = (select id from milestones where repo_id = ${repo.id} and number = ${Number(milestone)})`
}

/** Literal in the statement, because a parameter would not use the partial index of open issues. */
const states = { open: sql`and i.state = 'open'`, closed: sql`and i.state = 'closed'`, all: empty }

function inState({ state, since }: IssueFilter): Sql {
  const moment = parseIsoDate(since)
  return moment ? sql`${states[state]} and i.updated_at >= ${moment}` : states[state]
}

/** Issues that have all of the labels; `among` is a condition on the labels. */
function labelled({ labels }: IssueFilter, among: Sql): Sql {
  const names = [...new Set(labels.split(',').map((name) => name.trim()))].filter(Boolean)
  if (!names.length) return empty
  return sql`and i.id in (
    select b.issue_id from labels l join issue_labels b on b.label_id = l.id where ${among} and lower(l.name) = any(${lowerEach(names)})
    group by b.issue_id having count(*) = cardinality(${lowerEach(names)}))`
}

/** Numbers within a repository, and ids across repositories, increase in creation order: `place` is one of the two columns. */
async function readPage(
  db: Queryable,
  source: Sql,
  { sort, direction }: IssueFilter,
  place: Sql,
  slice: Slice,
): Promise<Listed<Issue>> {
  const down = direction === 'desc' ? sql`desc` : sql`asc`
  const first = { created: empty, updated: sql`i.updated_at ${down},`, comments: sql`i.comments_count ${down},` }[sort]
  const { rows, total } = await listed<Issue>(db, { columns, source, order: sql`${first} ${place} ${down}` }, slice)
  return { rows: await withMilestones(db, rows), total }
}
