import { NullableUser } from '#hosting/milestones/json.ts'
import { userJson } from '#hosting/people/json.ts'
import { reactionsField, reactionsJson } from '#hosting/reactions/json.ts'
import { Address, NullableString, nodeId, renderedForms, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { CommitComment } from './commit-comments.ts'

const NullableInteger = Type.Unsafe<number | null>({ type: ['integer', 'null'] })

export const CommitCommentSchema = Type.Object(
  {
    url: Address,
    html_url: Address,
    id: Type.Integer(),
    node_id: Type.String(),
    user: NullableUser,
    position: NullableInteger,
    line: NullableInteger,
    path: NullableString,
    commit_id: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
    author_association: Type.String(),
    body: Type.Optional(Type.String()),
    ...renderedForms,
    ...reactionsField,
  },
  { title: 'CommitComment' },
)

export function commitCommentJson(
  comment: CommitComment,
  repo: { owner_login: string; name: string },
  wire: Wire,
): Static<typeof CommitCommentSchema> {
  const full_name = `${repo.owner_login}/${repo.name}`
  const url = `${wire.api}/repos/${full_name}/comments/${comment.id}`
  return {
    url,
    html_url: `${wire.web}/${full_name}/commit/${comment.commit_id}#commitcomment-${comment.id}`,
    id: comment.id,
    node_id: nodeId('CommitComment', comment.id),
    user: comment.author && userJson(comment.author, wire),
    position: comment.position,
    line: comment.line,
    path: comment.path,
    commit_id: comment.commit_id,
    created_at: timestamp(comment.created_at),
    updated_at: timestamp(comment.updated_at),
    author_association: comment.author_association,
    body: comment.body,
    ...reactionsJson(url, comment.reactions),
  }
}
