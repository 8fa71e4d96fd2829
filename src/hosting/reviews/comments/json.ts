import { NullableUser } from '#hosting/milestones/json.ts'
import { userJson } from '#hosting/people/json.ts'
import { reactionsField, reactionsJson, rollupJson } from '#hosting/reactions/json.ts'
import { Address, NullableString, nodeId, renderedForms, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { ReviewComment } from './comments.ts'

const Href = Type.Object({ href: Address })
const NullableInteger = Type.Unsafe<number | null>({ type: ['integer', 'null'] })

export const ReviewCommentSchema = Type.Object(
  {
    url: Address,
    pull_request_review_id: NullableInteger,
    id: Type.Integer(),
    node_id: Type.String(),
    diff_hunk: Type.String(),
    path: Type.String(),
    position: Type.Integer(),
    original_position: Type.Integer(),
    commit_id: Type.String(),
    original_commit_id: Type.String(),
    in_reply_to_id: Type.Optional(Type.Integer()),
    user: NullableUser,
    body: Type.Optional(Type.String()),
    ...renderedForms,
    ...reactionsField,
    created_at: Timestamp,
    updated_at: Timestamp,
    html_url: Address,
    pull_request_url: Address,
    author_association: Type.String(),
    _links: Type.Object({ self: Href, html: Href, pull_request: Href }),
    start_line: Type.Optional(NullableInteger),
    original_start_line: Type.Optional(NullableInteger),
    start_side: Type.Optional(NullableString),
    line: Type.Optional(Type.Integer()),
    original_line: Type.Optional(Type.Integer()),
    side: Type.Optional(Type.String()),
    subject_type: Type.String(),
  },
  { title: 'PullRequestReviewComment' },
)

export function reviewCommentJson(
  comment: ReviewComment,
  repo: { owner_login: string; name: string },
  wire: Wire,
): Static<typeof ReviewCommentSchema> {
  const full_name = `${repo.owner_login}/${repo.name}`
  const pulls = `${wire.api}/repos/${full_name}/pulls`
  const url = `${pulls}/comments/${comment.id}`
  const html_url = `${wire.web}/${full_name}/pull/${comment.pull_number}#discussion_r${comment.id}`
  const pull_request_url = `${pulls}/${comment.pull_number}`
  const { line, side, start_line, start_side } = comment
  // A comment on a whole file is shown at its first line.
  const position = comment.position ?? 1
  return {
    url,
    pull_request_review_id: comment.review_id,
    id: comment.id,
    node_id: nodeId('PullRequestReviewComment', comment.id),
    diff_hunk: comment.diff_hunk,
    path: comment.path,
    position,
    original_position: position,
    commit_id: comment.commit_id,
    original_commit_id: comment.original_commit_id,
    ...(comment.in_reply_to_id !== null && { in_reply_to_id: comment.in_reply_to_id }),
    user: comment.author && userJson(comment.author, wire),
    body: comment.body,
    ...reactionsJson(url, comment.reactions),
    created_at: timestamp(comment.created_at),
    updated_at: timestamp(comment.updated_at),
    html_url,
    pull_request_url,
    author_association: comment.author_association,
    _links: { self: { href: url }, html: { href: html_url }, pull_request: { href: pull_request_url } },
    ...(line !== null && {
      ...{ start_line, original_start_line: start_line, start_side },
      ...{ line, original_line: line, ...(side && { side }) },
    }),
    subject_type: comment.subject_type,
  }
}

/** A review comment in timelines: as it was written, without reactions. Their documentation requires the counts. */
export function timelineCommentJson(comment: ReviewComment, repo: { owner_login: string; name: string }, wire: Wire) {
  const json = reviewCommentJson(comment, repo, wire)
  return { ...json, reactions: rollupJson(json.url, null) }
}
