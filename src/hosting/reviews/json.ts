import { NullableUser } from '#hosting/milestones/json.ts'
import { userJson } from '#hosting/people/json.ts'
import { Address, nodeId, renderedForms, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Review } from './reviews.ts'

const Href = Type.Object({ href: Address })

export const ReviewSchema = Type.Object(
  {
    id: Type.Integer(),
    node_id: Type.String(),
    user: NullableUser,
    body: Type.Optional(Type.String()),
    ...renderedForms,
    state: Type.String(),
    html_url: Address,
    pull_request_url: Address,
    author_association: Type.String(),
    _links: Type.Object({ html: Href, pull_request: Href }),
    submitted_at: Type.Optional(Timestamp),
    commit_id: Type.String(),
  },
  { title: 'PullRequestReview' },
)

export function reviewJson(review: Review, repo: { owner_login: string; name: string }, wire: Wire): Static<typeof ReviewSchema> {
  const full_name = `${repo.owner_login}/${repo.name}`
  const html_url = `${wire.web}/${full_name}/pull/${review.pull_number}#pullrequestreview-${review.id}`
  const pull_request_url = `${wire.api}/repos/${full_name}/pulls/${review.pull_number}`
  return {
    id: review.id,
    node_id: nodeId('PullRequestReview', review.id),
    user: review.author && userJson(review.author, wire),
    body: review.body,
    state: review.state,
    html_url,
    pull_request_url,
    author_association: review.author_association,
    _links: { html: { href: html_url }, pull_request: { href: pull_request_url } },
    ...(review.submitted_at && { submitted_at: timestamp(review.submitted_at) }),
    commit_id: review.commit_id,
  }
}

/** A review in timelines. */
export function timelineReviewJson(review: Review, repo: { owner_login: string; name: string }, wire: Wire) {
  return { ...reviewJson(review, repo, wire), updated_at: timestamp(review.updated_at) }
}
