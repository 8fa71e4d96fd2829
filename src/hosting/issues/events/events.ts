import type { HistoryName } from '#activity/acts.ts'
import { personOf } from '#hosting/issues/authors.ts'
import { checkEnabled } from '#hosting/issues/rights.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { ShownTeam } from '#hosting/teams/json.ts'
import { knownTo, shownTeam } from '#hosting/teams/teams.ts'
import type { Person, Viewer } from '#identity/accounts.ts'
import { empty, type Queryable, sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

export interface IssueEvent {
  id: number
  issue_id: number
  /** Null when the account was deleted, like every user below. */
  actor: Person | null
  /** Those of acts, and `mentioned` and `subscribed`, which the fan-out of notifications writes. */
  event: HistoryName | 'mentioned' | 'subscribed'
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

const columns = ({ viewer_id }: Viewer) => sql`e.*, ${personOf(sql`e.actor_id`)} as actor,
  ${personOf(sql`e.assignee_id`)} as assignee, ${personOf(sql`e.requested_reviewer_id`)} as requested_reviewer,
  (select ${shownTeam} from teams t join accounts o on o.id = t.org_id
    where t.id = e.requested_team_id and ${knownTo(sql`${viewer_id}`)}) as requested_team`

/** Oldest first. */
export function listIssueEvents(db: Queryable, viewer: Viewer, issue: { id: number }, slice: Slice): Promise<Listed<IssueEvent>> {
  const source = sql`issue_events e where e.issue_id = ${issue.id}`
  return listed(db, { columns: columns(viewer), source, order: sql`e.id` }, slice)
}

/** The last `most` events from `since` until before `until`, oldest first; null has no limit. */
export async function listEventsBetween(
  db: Queryable,
  viewer: Viewer,
  issue: { id: number },
  { since, until }: { since: Date | null; until: Date | null },
  most: number,
): Promise<IssueEvent[]> {
  const begun = since ? sql`and e.created_at >= ${since}` : empty
  const ended = until ? sql`and e.created_at < ${until}` : empty
  const rows = await db.rows<IssueEvent>(sql`
    select ${columns(viewer)} from issue_events e where e.issue_id = ${issue.id} ${begun} ${ended} order by e.id desc limit ${most}`)
  return rows.toReversed()
}

/** Events of all issues and pull requests, newest first. When issues are disabled, of pull requests only. */
export function listRepositoryEvents(db: Queryable, viewer: Viewer, repo: Repository, slice: Slice): Promise<Listed<IssueEvent>> {
  const shown = repo.has_issues ? empty : sql`and exists (select from pulls p where p.issue_id = e.issue_id)`
  const source = sql`issue_events e where e.repo_id = ${repo.id} ${shown}`
  return listed(db, { columns: columns(viewer), source, order: sql`e.id desc` }, slice)
}

/** Events by id, for the timeline of an issue. */
export function loadIssueEvents(db: Queryable, viewer: Viewer, ids: number[]): Promise<IssueEvent[]> {
  return db.rows(sql`select ${columns(viewer)} from issue_events e where e.id = any(${ids})`)
}

export async function loadIssueEvent(db: Queryable, viewer: Viewer, repo: Repository, id: number): Promise<IssueEvent> {
  const found = await db.first<IssueEvent & { pull_id: number | null }>(sql`
    select ${columns(viewer)}, (select p.id from pulls p where p.issue_id = e.issue_id) as pull_id
    from issue_events e where e.repo_id = ${repo.id} and e.id = ${id}`)
  if (!found?.pull_id) checkEnabled(repo)
  if (!found) throw missing()
  return found
}
