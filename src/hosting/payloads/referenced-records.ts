import type { Facts } from '#activity/facts.ts'
import { type CheckRun, loadRuns } from '#hosting/checks/runs.ts'
import { type CheckSuite, loadSuites } from '#hosting/checks/suites.ts'
import { type CommitComment, loadCommitComments } from '#hosting/commit-comments/commit-comments.ts'
import { type Deployment, loadDeployments } from '#hosting/deployments/deployments.ts'
import { type DeploymentStatus, loadDeploymentStatuses } from '#hosting/deployments/statuses.ts'
import { type Comment, loadComments } from '#hosting/issues/comments/comments.ts'
import { type Issue, loadIssues } from '#hosting/issues/issues.ts'
import { loadKeys, type SshKey } from '#hosting/keys/keys.ts'
import { type Label, loadLabels } from '#hosting/labels/labels.ts'
import { loadMilestones, type Milestone } from '#hosting/milestones/milestones.ts'
import { loadInvitations, type OrganizationInvitation } from '#hosting/organization-invitations/invitations.ts'
import { loadProtections } from '#hosting/protection/protection.ts'
import type { Protection } from '#hosting/protection/rules.ts'
import { isKnownToHooks, loadDeliveredPulls, type Pull } from '#hosting/pulls/pulls.ts'
import { loadReleases, type Release } from '#hosting/releases/releases.ts'
import { type Repository, readRepositories } from '#hosting/repositories/repositories.ts'
import {
  loadReviewComments,
  loadReviewThreads,
  type ReviewComment,
  type ReviewThread,
} from '#hosting/reviews/comments/comments.ts'
import { loadReviews, type Review } from '#hosting/reviews/reviews.ts'
import { loadStatuses, type Status } from '#hosting/statuses/statuses.ts'
import type { ShownTeam } from '#hosting/teams/json.ts'
import { shownTeam } from '#hosting/teams/teams.ts'
import type { Account } from '#identity/accounts.ts'
import { type Person, personColumns } from '#identity/accounts.ts'
import { type Queryable, sql } from '#platform/database.ts'

interface Rows {
  repositories: Repository
  accounts: Person & Pick<Account, 'bio' | 'email'>
  /** Without secret teams. */
  teams: ShownTeam
  /** With secret teams, for hooks of their organization. */
  organization_teams: ShownTeam & { access: number }
  releases: Release
  issues: Issue
  comments: Comment
  commit_comments: CommitComment
  labels: Label
  milestones: Milestone
  pulls: Pull
  reviews: Review
  review_comments: ReviewComment
  review_threads: ReviewThread
  statuses: Status
  deployments: Deployment
  deployment_statuses: DeploymentStatus
  keys: SshKey
  check_runs: CheckRun
  check_suites: CheckSuite
  protections: Protection
  organization_invitations: OrganizationInvitation
}

/** The records that facts refer to, by id. Deleted records are in no map. */
export type ReferencedRecords = { [Kind in keyof Rows]: Map<number, Rows[Kind]> }

const kinds = {
  forkee_id: 'repositories',
  member_id: 'accounts',
  assignee_id: 'accounts',
  requested_reviewer_id: 'accounts',
  former_owner_id: 'accounts',
  commit_author_id: 'accounts',
  committer_id: 'accounts',
  requested_team_id: 'teams',
  team_id: 'organization_teams',
  repo_id: 'repositories',
  release_id: 'releases',
  issue_id: 'issues',
  comment_id: 'comments',
  commit_comment_id: 'commit_comments',
  label_id: 'labels',
  milestone_id: 'milestones',
  pull_id: 'pulls',
  review_id: 'reviews',
  review_comment_id: 'review_comments',
  review_thread_id: 'review_threads',
  status_id: 'statuses',
  deployment_id: 'deployments',
  deployment_status_id: 'deployment_statuses',
  deploy_key_id: 'keys',
  check_run_id: 'check_runs',
  check_suite_id: 'check_suites',
  protection_id: 'protections',
  organization_invitation_id: 'organization_invitations',
} satisfies Partial<Record<keyof Facts, keyof Rows>>

type Loaders = { [Kind in keyof Rows]: (db: Queryable, ids: number[]) => Promise<Rows[Kind][]> }

const loaders: Loaders = {
  repositories: (db, ids) => readRepositories(db, null, ids),
  accounts: (db, ids) => db.rows(sql`select ${personColumns}, a.bio, a.email from accounts a where a.id = any(${ids})`),
  teams: async (db, ids) => {
    const rows = await db.rows<{ team: ShownTeam }>(sql`
      select ${shownTeam} as team from teams t join accounts o on o.id = t.org_id where t.id = any(${ids}) and ${isKnownToHooks}`)
    return rows.map(({ team }) => team)
  },
  organization_teams: (db, ids) =>
    db.rows(sql`select t.*, o.login as org_login from teams t join accounts o on o.id = t.org_id where t.id = any(${ids})`),
  releases: loadReleases,
  issues: loadIssues,
  comments: loadComments,
  commit_comments: loadCommitComments,
  labels: loadLabels,
  milestones: loadMilestones,
  pulls: loadDeliveredPulls,
  reviews: loadReviews,
  review_comments: loadReviewComments,
  review_threads: loadReviewThreads,
  statuses: loadStatuses,
  deployments: loadDeployments,
  deployment_statuses: loadDeploymentStatuses,
  keys: loadKeys,
  check_runs: loadRuns,
  check_suites: loadSuites,
  protections: loadProtections,
  organization_invitations: loadInvitations,
}

export async function loadReferencedRecords(db: Queryable, stated: Partial<Facts>[]): Promise<ReferencedRecords> {
  const wanted = Map.groupBy(stated.flatMap(idsIn), ({ kind }) => kind)
  const load = async <Kind extends keyof Rows>(kind: Kind): Promise<[Kind, Map<number, Rows[Kind]>]> => {
    const ids = [...new Set(wanted.get(kind)?.map(({ id }) => id))]
    return [kind, new Map(ids.length ? (await loaders[kind](db, ids)).map((row) => [row.id, row]) : [])]
  }
  const loaded = []
  // One after the other, because a transaction has one connection.
  for (const kind of Object.keys(loaders) as (keyof Rows)[]) loaded.push(await load(kind))
  return Object.fromEntries(loaded) as ReferencedRecords
}

function idsIn(facts: Partial<Facts>): { kind: keyof Rows; id: number }[] {
  return (Object.keys(kinds) as (keyof typeof kinds)[]).flatMap((fact) => {
    const id = facts[fact]
    return id == null ? [] : { kind: kinds[fact], id }
  })
}
