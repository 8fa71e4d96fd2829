import { person, personOf } from '#hosting/issues/authors.ts'
import { type Issue, loadIssues } from '#hosting/issues/issues.ts'
import { keptId } from '#hosting/repositories/deletion-lock.ts'
import { listRepositories, type Repository } from '#hosting/repositories/repositories.ts'
import type { ShownTeam } from '#hosting/teams/json.ts'
import { knownTo, shownTeam } from '#hosting/teams/teams.ts'
import type { Person, Viewer } from '#identity/accounts.ts'
import { type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'

/** A pull request is an issue with a head branch and a base branch. */
export interface Pull extends Omit<Issue, 'id' | 'pull_id' | 'draft'> {
  id: number
  issue_id: number
  head_repo_id: number | null
  /** Null when it was deleted, when it is hidden from the viewer, or when it is the base repository itself. */
  head_repo: Repository | null
  head_owner: Person | null
  head_ref: string
  head_sha: string
  base_ref: string
  /** The last commit of the base before the pull request was merged or closed; for an open one, the commit that was examined last. */
  base_sha: string
  draft: boolean
  maintainer_can_modify: boolean
  merged_by: Person | null
  merge_commit_sha: string | null
  mergeable_state: 'clean' | 'dirty' | 'nothing' | 'unknown' | null
  /** Why it cannot simply be merged although it has no conflicts. Only where mergeability was computed. */
  obstacle?: 'blocked' | 'behind' | 'unstable' | null
  mergeable_head: string | null
  mergeable_base: string | null
  commits: number
  additions: number
  deletions: number
  changed_files: number
  review_comments_count: number
  requested_reviewers: Person[]
  /** The teams that the viewer may see. */
  requested_teams: ShownTeam[]
}

const nobody: Viewer = { viewer_id: null, sees_private: false }

/** Payloads do not name a secret team `t`: hooks are set by repository admins, who may not know it. */
export const isKnownToHooks = sql`t.privacy = 'closed'`

const columns = (known: Sql) => sql`p.*, ${personOf(sql`p.head_owner_id`)} as head_owner,
  ${personOf(sql`p.merged_by_id`)} as merged_by,
  (select count(*) from review_comments c left join reviews v on v.id = c.review_id
    where c.pull_id = p.id and v.state is distinct from 'PENDING') as review_comments_count,
  array(select ${person} from review_requests q join accounts a on a.id = q.user_id
    where q.pull_id = p.id order by q.requested_at, a.id) as requested_reviewers,
  array(select ${shownTeam}
    from review_requests q join teams t on t.id = q.team_id join accounts o on o.id = t.org_id
    where q.pull_id = p.id and ${known}
    order by q.requested_at, t.id) as requested_teams`

/** Reads the pull requests of `source`, in its order, as the viewer may see them. */
export async function readPulls(db: Queryable, source: Sql, viewer: Viewer = nobody, known = knownTo(sql`${viewer.viewer_id}`)) {
  const rows = await db.rows<Pull>(sql`select ${columns(known)} from ${source}`)
  const heads = [...new Set(rows.flatMap((row) => (row.head_repo_id === row.repo_id ? [] : (row.head_repo_id ?? []))))]
  // Sequential, because a transaction has one connection.
  const ids = rows.map(({ issue_id }) => issue_id)
  const issues = ids.length ? await loadIssues(db, ids) : []
  const slice = { limit: heads.length, offset: 0 }
  const repos = heads.length ? await listRepositories(db, viewer, sql`r.id = any(${heads})`, sql`r.id`, slice) : { rows: [] }
  const talks = new Map(issues.map(({ id, pull_id, ...issue }) => [id, issue]))
  const places = new Map(repos.rows.map((repo) => [repo.id, repo]))
  return rows.flatMap((row) => {
    const issue = talks.get(row.issue_id)
    return issue ? [{ ...issue, ...row, head_repo: places.get(row.head_repo_id ?? 0) ?? null }] : []
  })
}

/** Pull requests by id. A head repository that is hidden from the viewer is omitted. */
export function loadPulls(db: Queryable, ids: number[], viewer?: Viewer): Promise<Pull[]> {
  return readPulls(db, sql`pulls p where p.id = any(${ids})`, viewer)
}

/** Pull requests by id, as webhook payloads show them. */
export function loadDeliveredPulls(db: Queryable, ids: number[]): Promise<Pull[]> {
  return readPulls(db, sql`pulls p where p.id = any(${ids})`, nobody, isKnownToHooks)
}

/** Without `viewer`, a private head repository is omitted. */
export async function loadPull(db: Queryable, repo: { id: number }, number: number, viewer?: Viewer): Promise<Pull> {
  const source = sql`issues i join pulls p on p.issue_id = i.id where i.repo_id = ${repo.id} and i.number = ${number}`
  const [pull] = await readPulls(db, source, viewer)
  if (!pull) throw missing()
  return pull
}

/** Locks the pull request until the transaction ends, so that concurrent changes take turns. */
export async function lockPull(db: Transaction, repo: { id: number }, number: number, viewer?: Viewer): Promise<Pull> {
  await db.query(sql`select from issues where repo_id = ${keptId(repo)} and number = ${number} for no key update`)
  return loadPull(db, repo, number, viewer)
}
