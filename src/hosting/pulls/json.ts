import { LabelSchema, labelJson } from '#hosting/labels/json.ts'
import { MilestoneSchema, milestoneJson, NullableUser } from '#hosting/milestones/json.ts'
import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { NullableRepository, ownerOf, repositoryJson } from '#hosting/repositories/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { TeamSchema, teamJson } from '#hosting/teams/json.ts'
import {
  Address,
  NullableBoolean,
  NullableString,
  NullableTimestamp,
  nodeId,
  renderedForms,
  slimVersion,
  Timestamp,
  timestamp,
  type Wire,
} from '#http/serialization.ts'
import type { Person } from '#identity/accounts.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Pull } from './pulls.ts'

const End = Type.Object({
  label: Type.String(),
  ref: Type.String(),
  sha: Type.String(),
  user: NullableUser,
  repo: NullableRepository,
})
const Href = Type.Object({ href: Address })

const fields = {
  url: Address,
  id: Type.Integer(),
  node_id: Type.String(),
  html_url: Address,
  diff_url: Address,
  patch_url: Address,
  issue_url: Address,
  commits_url: Address,
  review_comments_url: Address,
  review_comment_url: Address,
  comments_url: Address,
  statuses_url: Address,
  number: Type.Integer(),
  state: Type.String(),
  locked: Type.Boolean(),
  title: Type.String(),
  user: NullableUser,
  body: Type.Optional(NullableString),
  ...renderedForms,
  labels: Type.Array(LabelSchema),
  milestone: Type.Unsafe<Static<typeof MilestoneSchema> | null>({
    ...MilestoneSchema,
    title: 'NullableMilestone',
    nullable: true,
  }),
  active_lock_reason: NullableString,
  created_at: Timestamp,
  updated_at: Timestamp,
  closed_at: NullableTimestamp,
  merged_at: NullableTimestamp,
  merge_commit_sha: Type.Optional(NullableString),
  assignee: Type.Optional(NullableUser),
  assignees: Type.Array(SimpleUser),
  requested_reviewers: Type.Array(SimpleUser),
  requested_teams: Type.Array(TeamSchema),
  head: End,
  base: End,
  _links: Type.Object({
    self: Href,
    html: Href,
    issue: Href,
    comments: Href,
    review_comments: Href,
    review_comment: Href,
    commits: Href,
    statuses: Href,
  }),
  author_association: Type.String(),
  auto_merge: Type.Null(),
  draft: Type.Boolean(),
}

/** A pull request in lists. */
export const PullSchema = Type.Object(fields, { title: 'PullRequestSimple' })

/** `personal`: whether the repositories show the caller's permissions, see `repositoryJson`. */
export function pullJson(pull: Pull, repo: Repository, wire: Wire, personal = false): Static<typeof PullSchema> {
  const full_name = `${repo.owner_login}/${repo.name}`
  const repository_url = `${wire.api}/repos/${full_name}`
  const url = `${repository_url}/pulls/${pull.number}`
  const html_url = `${wire.web}/${full_name}/pull/${pull.number}`
  const issue_url = `${repository_url}/issues/${pull.number}`
  const commits_url = `${url}/commits`
  const review_comments_url = `${url}/comments`
  const review_comment_url = `${repository_url}/pulls/comments{/number}`
  const comments_url = `${issue_url}/comments`
  const statuses_url = `${repository_url}/statuses/${pull.head_sha}`
  const assignees = pull.assignees.map((user) => userJson(user, wire))
  const end = (user: Person | null, ref: string, sha: string, place: Repository | null) => ({
    label: `${user?.login ?? 'ghost'}:${ref}`,
    ref,
    sha,
    user: user && userJson(user, wire),
    repo: place && repositoryJson(place, wire, personal),
  })
  return {
    url,
    id: pull.id,
    node_id: nodeId('PullRequest', pull.id),
    html_url,
    diff_url: `${html_url}.diff`,
    patch_url: `${html_url}.patch`,
    issue_url,
    commits_url,
    review_comments_url,
    review_comment_url,
    comments_url,
    statuses_url,
    number: pull.number,
    state: pull.state,
    locked: pull.locked,
    title: pull.title,
    user: pull.author && userJson(pull.author, wire),
    body: pull.body,
    labels: pull.labels.map((label) => labelJson(label, repo, wire)),
    milestone: pull.milestone && milestoneJson(pull.milestone, repo, wire),
    active_lock_reason: pull.lock_reason,
    created_at: timestamp(pull.created_at),
    updated_at: timestamp(pull.updated_at),
    closed_at: pull.closed_at && timestamp(pull.closed_at),
    merged_at: pull.merged_at && timestamp(pull.merged_at),
    ...(wire.version < slimVersion && { merge_commit_sha: pull.merge_commit_sha, assignee: assignees[0] ?? null }),
    assignees,
    requested_reviewers: pull.requested_reviewers.map((user) => userJson(user, wire)),
    requested_teams: pull.requested_teams.map((team) => teamJson(team, wire)),
    head: end(pull.head_owner, pull.head_ref, pull.head_sha, headOf(pull, repo)),
    base: end(ownerOf(repo), pull.base_ref, pull.base_sha, repo),
    _links: {
      self: { href: url },
      html: { href: html_url },
      issue: { href: issue_url },
      comments: { href: comments_url },
      review_comments: { href: review_comments_url },
      review_comment: { href: review_comment_url },
      commits: { href: commits_url },
      statuses: { href: statuses_url },
    },
    author_association: pull.author_association,
    auto_merge: null,
    draft: pull.draft,
  }
}

export const headOf = (pull: Pull, repo: Repository) => (pull.head_repo_id === repo.id ? repo : pull.head_repo)

/** A single pull request, with the fields that need git. */
export const FullPullSchema = Type.Object(
  {
    ...fields,
    merged: Type.Boolean(),
    mergeable: NullableBoolean,
    rebaseable: NullableBoolean,
    mergeable_state: Type.String(),
    merged_by: NullableUser,
    comments: Type.Integer(),
    review_comments: Type.Integer(),
    maintainer_can_modify: Type.Boolean(),
    commits: Type.Integer(),
    additions: Type.Integer(),
    deletions: Type.Integer(),
    changed_files: Type.Integer(),
  },
  { title: 'PullRequest' },
)

export function fullPullJson(pull: Pull, repo: Repository, wire: Wire, personal = false): Static<typeof FullPullSchema> {
  return {
    ...pullJson(pull, repo, wire, personal),
    merged: pull.merged_at !== null,
    mergeable: mergeableOf(pull),
    rebaseable: null,
    mergeable_state: stateOf(pull),
    merged_by: pull.merged_by && userJson(pull.merged_by, wire),
    comments: pull.comments_count,
    review_comments: pull.review_comments_count,
    maintainer_can_modify: pull.maintainer_can_modify,
    commits: pull.commits,
    additions: pull.additions,
    deletions: pull.deletions,
    changed_files: pull.changed_files,
  }
}

function mergeableOf({ state, mergeable_state, mergeable_head, head_sha }: Pull): boolean | null {
  if (state === 'closed' || mergeable_head !== head_sha) return null
  return mergeable_state === null || mergeable_state === 'unknown' ? null : mergeable_state === 'clean'
}

function stateOf(pull: Pull) {
  const mergeable = mergeableOf(pull)
  if (mergeable === null) return 'unknown'
  if (pull.draft) return 'draft'
  return mergeable ? (pull.obstacle ?? 'clean') : 'dirty'
}

/** A pull request in timelines of the versioned variant. */
export function minimalPullJson(pull: Pull, repo: Repository, { api }: Wire) {
  const end = (ref: string, sha: string, place: Repository | null) => ({
    ref,
    sha,
    repo: place && { id: place.id, url: `${api}/repos/${place.owner_login}/${place.name}`, name: place.name },
  })
  return {
    id: pull.id,
    number: pull.number,
    url: `${api}/repos/${repo.owner_login}/${repo.name}/pulls/${pull.number}`,
    head: end(pull.head_ref, pull.head_sha, headOf(pull, repo)),
    base: end(pull.base_ref, pull.base_sha, repo),
  }
}
