import type { Act } from '#activity/events.ts'
import { personOf } from '#hosting/issues/authors.ts'
import { checkEnabled } from '#hosting/issues/rights.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { ShownTeam } from '#hosting/teams/json.ts'
import { knownTo, shownTeam } from '#hosting/teams/teams.ts'
import type { Person, Sight } from '#identity/accounts.ts'
import { empty, json, type Listed, listed, type Queryable, type Slice, sql, type Transaction } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'

/** What happens to an issue or a pull request, by the names that clients know. */
export type IssueAct =
  | { event: 'closed' | 'reopened'; state_reason?: string | null }
  | { event: 'merged'; commit_id: string }
  | { event: 'ready_for_review' | 'convert_to_draft' }
  | { event: 'renamed'; renamed_from: string; renamed_to: string }
  | { event: 'locked' | 'unlocked'; lock_reason: string | null }
  | { event: 'labeled' | 'unlabeled'; label_id: number }
  | { event: 'milestoned' | 'demilestoned'; milestone_id: number }
  | { event: 'assigned' | 'unassigned'; assignee_id: number }
  | { event: 'review_requested' | 'review_request_removed'; requested_reviewer_id: number }
  | { event: 'review_requested' | 'review_request_removed'; requested_team_id: number }

/**
 * The one door into the history of issues: writes what happened to one that is held, in this order, in the transaction of the act itself.
 * Labels and milestones are kept by what they are called now.
 */
export async function recordIssueEvents(
  db: Transaction,
  actor: { id: number },
  repo: { id: number },
  issue: { id: number },
  ...acts: IssueAct[]
) {
  if (!acts.length) return
  const rows = acts.map((act, place) => ({ ...act, place }))
  await db.query(sql`
    insert into issue_events (repo_id, issue_id, actor_id, created_at, event, assignee_id, label_name, label_color, milestone_title,
      renamed_from, renamed_to, requested_reviewer_id, requested_team_id, state_reason, lock_reason, commit_id)
    select ${repo.id}, ${issue.id}, ${actor.id}, ${db.now}, event, assignee_id, l.name, l.color, m.title,
      renamed_from, renamed_to, requested_reviewer_id, requested_team_id, state_reason, lock_reason, commit_id
    from jsonb_to_recordset(${json(rows)}::jsonb) as act (place integer, event text, assignee_id bigint, label_id bigint,
        milestone_id bigint, renamed_from text, renamed_to text, requested_reviewer_id bigint, requested_team_id bigint,
        state_reason text, lock_reason text, commit_id text)
      left join labels l on l.id = label_id left join milestones m on m.id = milestone_id
    order by place`)
}

/** Of what the log is told, how an issue was sorted. */
export function sortedBy(acts: Act[]): IssueAct[] {
  return acts.flatMap(({ payload }): IssueAct[] => {
    if ('label_id' in payload) return [{ event: payload.action, label_id: payload.label_id }]
    if ('assignee_id' in payload) return [{ event: payload.action, assignee_id: payload.assignee_id }]
    return []
  })
}

/** From one milestone to another, either of which may be none. */
export function milestonedBy(before: number | null, after: number | null): IssueAct[] {
  if (before === after) return []
  const left = before === null ? [] : [{ event: 'demilestoned', milestone_id: before } as const]
  const joined = after === null ? [] : [{ event: 'milestoned', milestone_id: after } as const]
  return [...left, ...joined]
}

export interface IssueEvent {
  id: number
  issue_id: number
  /** Null when the account was deleted, like every user below. */
  actor: Person | null
  event: IssueAct['event']
  assignee: Person | null
  label_name: string | null
  label_color: string | null
  milestone_title: string | null
  renamed_from: string | null
  renamed_to: string | null
  requested_reviewer: Person | null
  /** Null also when the viewer may not see the team. */
  requested_team: ShownTeam | null
  state_reason: string | null
  lock_reason: string | null
  commit_id: string | null
  created_at: Date
}

const columns = ({ viewer_id }: Sight) => sql`e.*, ${personOf(sql`e.actor_id`)} as actor,
  ${personOf(sql`e.assignee_id`)} as assignee, ${personOf(sql`e.requested_reviewer_id`)} as requested_reviewer,
  (select ${shownTeam} from teams t join accounts o on o.id = t.org_id
    where t.id = e.requested_team_id and ${knownTo(sql`${viewer_id}`)}) as requested_team`

/** Oldest first. */
export function listIssueEvents(db: Queryable, sight: Sight, issue: { id: number }, slice: Slice): Promise<Listed<IssueEvent>> {
  const source = sql`issue_events e where e.issue_id = ${issue.id}`
  return listed(db, { columns: columns(sight), source, order: sql`e.id` }, slice)
}

/** Events of all issues and pull requests, newest first. When issues are disabled, of pull requests only. */
export function listRepositoryEvents(db: Queryable, sight: Sight, repo: Repository, slice: Slice): Promise<Listed<IssueEvent>> {
  const shown = repo.has_issues ? empty : sql`and exists (select from pulls p where p.issue_id = e.issue_id)`
  const source = sql`issue_events e where e.repo_id = ${repo.id} ${shown}`
  return listed(db, { columns: columns(sight), source, order: sql`e.id desc` }, slice)
}

/** Events by id, for the timeline of an issue. */
export function loadIssueEvents(db: Queryable, sight: Sight, ids: number[]): Promise<IssueEvent[]> {
  return db.rows(sql`select ${columns(sight)} from issue_events e where e.id = any(${ids})`)
}

export async function loadIssueEvent(db: Queryable, sight: Sight, repo: Repository, id: number): Promise<IssueEvent> {
  const found = await db.first<IssueEvent & { pull_id: number | null }>(sql`
    select ${columns(sight)}, (select p.id from pulls p where p.issue_id = e.issue_id) as pull_id
    from issue_events e where e.repo_id = ${repo.id} and e.id = ${id}`)
  if (!found?.pull_id) checkEnabled(repo)
  if (!found) throw missing()
  return found
}
