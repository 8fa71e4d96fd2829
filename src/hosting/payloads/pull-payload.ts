import { unaddressed as wire } from '#activity/outbox/addresses.ts'
import { userJson } from '#hosting/people/json.ts'
import { fullPullJson, headOf, pullJson } from '#hosting/pulls/json.ts'
import type { ReviewComment } from '#hosting/reviews/comments/comments.ts'
import { toldCommentJson } from '#hosting/reviews/comments/json.ts'
import { toldReviewJson } from '#hosting/reviews/json.ts'
import type { Review } from '#hosting/reviews/reviews.ts'
import { teamJson } from '#hosting/teams/json.ts'
import { sortedFields } from './issue-payload.ts'
import type { News } from './news.ts'
import { ghost, named, type Scene } from './payload-context.ts'
import { toldRepositoryJson } from './repository-payload.ts'

type Payload<Event extends News['event']> = Extract<News, { event: Event }>['payload']

export function pullFields(
  { action, pull_id, reviewer_id, requested_team, before, after, ...sorted }: Payload<'pull_request'>,
  scene: Scene,
) {
  const pull_request = pullOf(pull_id, scene, fullPullJson)
  return {
    action,
    number: pull_request.number,
    pull_request,
    ...sortedFields(sorted, scene),
    ...(reviewer_id !== undefined && { requested_reviewer: userJson(named(scene.mentioned.people, reviewer_id), wire) }),
    ...(requested_team && { requested_team: teamJson(requested_team, wire) }),
    ...(before && { before, after }),
  }
}

/** With both repositories as they are told of by themselves. */
function pullOf<Json extends ReturnType<typeof pullJson>>(
  pull_id: number,
  { repo, mentioned }: Scene,
  write: (...args: Parameters<typeof pullJson>) => Json,
): Json {
  const pull = named(mentioned.pulls, pull_id)
  const json = write({ ...pull, author: pull.author ?? ghost, head_owner: pull.head_owner ?? ghost }, repo, wire)
  const head = headOf(pull, repo)
  return {
    ...json,
    head: { ...json.head, repo: head && toldRepositoryJson(head) },
    base: { ...json.base, repo: toldRepositoryJson(repo) },
  }
}

export function reviewFields({ pull_id, review_id, ...rest }: Payload<'pull_request_review'>, scene: Scene) {
  const review = reviewOf(named(scene.mentioned.reviews, review_id), scene)
  return { ...rest, review, pull_request: pullOf(pull_id, scene, pullJson) }
}

/** Here, unlike elsewhere, what it says of the changes is in small letters, and nothing said is null. */
function reviewOf(review: Review, { repo }: Scene) {
  const json = toldReviewJson({ ...review, author: review.author ?? ghost }, repo, wire)
  return { ...json, body: json.body || null, state: json.state.toLowerCase() }
}

export function reviewCommentFields(
  { pull_id, review_comment_id, ...rest }: Payload<'pull_request_review_comment'>,
  scene: Scene,
) {
  const comment = commentOf(named(scene.mentioned.review_comments, review_comment_id), scene)
  return { ...rest, comment, pull_request: pullOf(pull_id, scene, pullJson) }
}

/** Receivers count on lines, which one on a whole file has not: it is shown above the first. */
function commentOf(comment: ReviewComment, { repo }: Scene) {
  const lines = { start_line: null, original_start_line: null, start_side: null, line: null, original_line: 1, side: 'RIGHT' }
  return { ...lines, ...toldCommentJson({ ...comment, author: comment.author ?? ghost }, repo, wire) }
}
