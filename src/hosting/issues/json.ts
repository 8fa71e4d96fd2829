import { LabelSchema, labelJson } from '#hosting/labels/json.ts'
import { MilestoneSchema, milestoneJson, NullableUser } from '#hosting/milestones/json.ts'
import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { reactionsField, reactionsJson } from '#hosting/reactions/json.ts'
import {
  Address,
  NullableString,
  NullableTimestamp,
  nodeId,
  renderedForms,
  slimVersion,
  Timestamp,
  timestamp,
  type Wire,
} from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Issue } from './issues.ts'

const fields = {
  url: Address,
  repository_url: Address,
  labels_url: Address,
  comments_url: Address,
  events_url: Address,
  timeline_url: Address,
  html_url: Address,
  id: Type.Integer(),
  node_id: Type.String(),
  number: Type.Integer(),
  title: Type.String(),
  user: NullableUser,
  labels: Type.Array(LabelSchema),
  state: Type.String(),
  state_reason: NullableString,
  locked: Type.Boolean(),
  active_lock_reason: NullableString,
  assignee: Type.Optional(NullableUser),
  assignees: Type.Array(SimpleUser),
  milestone: Type.Unsafe<Static<typeof MilestoneSchema> | null>({
    ...MilestoneSchema,
    title: 'NullableMilestone',
    nullable: true,
  }),
  comments: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
  closed_at: NullableTimestamp,
  closed_by: NullableUser,
  author_association: Type.String(),
  body: Type.Optional(NullableString),
  ...renderedForms,
  ...reactionsField,
  performed_via_github_app: Type.Null(),
  draft: Type.Optional(Type.Boolean()),
  pull_request: Type.Optional(
    Type.Object({ url: Address, html_url: Address, diff_url: Address, patch_url: Address, merged_at: NullableTimestamp }),
  ),
}

export const IssueSchema = Type.Object(fields, { title: 'Issue' })

export function issueJson(issue: Issue, repo: { owner_login: string; name: string }, wire: Wire): Static<typeof IssueSchema> {
  const full_name = `${repo.owner_login}/${repo.name}`
  const repository_url = `${wire.api}/repos/${full_name}`
  const url = `${repository_url}/issues/${issue.number}`
  const html_url = `${wire.web}/${full_name}/${issue.pull_id === null ? 'issues' : 'pull'}/${issue.number}`
  const assignees = issue.assignees.map((user) => userJson(user, wire))
  return {
    url,
    repository_url,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    timeline_url: `${url}/timeline`,
    html_url,
    id: issue.id,
    node_id: nodeId('Issue', issue.id),
    number: issue.number,
    title: issue.title,
    user: issue.author && userJson(issue.author, wire),
    labels: issue.labels.map((label) => labelJson(label, repo, wire)),
    state: issue.state,
    state_reason: issue.state_reason,
    locked: issue.locked,
    active_lock_reason: issue.lock_reason,
    ...(wire.version < slimVersion && { assignee: assignees[0] ?? null }),
    assignees,
    milestone: issue.milestone && milestoneJson(issue.milestone, repo, wire),
    comments: issue.comments_count,
    created_at: timestamp(issue.created_at),
    updated_at: timestamp(issue.updated_at),
    closed_at: issue.closed_at && timestamp(issue.closed_at),
    closed_by: issue.closed_by && userJson(issue.closed_by, wire),
    author_association: issue.author_association,
    body: issue.body,
    ...reactionsJson(url, issue.reactions),
    performed_via_github_app: null,
    ...(issue.pull_id !== null && {
      draft: issue.draft ?? false,
      pull_request: {
        url: `${repository_url}/pulls/${issue.number}`,
        html_url,
        diff_url: `${html_url}.diff`,
        patch_url: `${html_url}.patch`,
        merged_at: issue.merged_at && timestamp(issue.merged_at),
      },
    }),
  }
}
