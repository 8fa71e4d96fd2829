import { NullableUser } from '#hosting/milestones/json.ts'
import { userJson } from '#hosting/people/json.ts'
import { reactionsField, reactionsJson } from '#hosting/reactions/json.ts'
import { Address, nodeId, renderedForms, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Comment } from './comments.ts'

export const CommentSchema = Type.Object(
  {
    url: Address,
    html_url: Address,
    issue_url: Address,
    id: Type.Integer(),
    node_id: Type.String(),
    user: NullableUser,
    created_at: Timestamp,
    updated_at: Timestamp,
    author_association: Type.String(),
    body: Type.Optional(Type.String()),
    ...renderedForms,
    ...reactionsField,
    performed_via_github_app: Type.Null(),
  },
  { title: 'IssueComment' },
)

export function commentJson(
  comment: Comment,
  repo: { owner_login: string; name: string },
  wire: Wire,
): Static<typeof CommentSchema> {
  const full_name = `${repo.owner_login}/${repo.name}`
  const issues = `${wire.api}/repos/${full_name}/issues`
  const page = comment.pull_id === null ? 'issues' : 'pull'
  const url = `${issues}/comments/${comment.id}`
  return {
    url,
    html_url: `${wire.web}/${full_name}/${page}/${comment.issue_number}#issuecomment-${comment.id}`,
    issue_url: `${issues}/${comment.issue_number}`,
    id: comment.id,
    node_id: nodeId('IssueComment', comment.id),
    user: comment.author && userJson(comment.author, wire),
    created_at: timestamp(comment.created_at),
    updated_at: timestamp(comment.updated_at),
    author_association: comment.author_association,
    body: comment.body,
    ...reactionsJson(url, comment.reactions),
    performed_via_github_app: null,
  }
}
