import { userJson } from '#hosting/people/json.ts'
import { fullPullJson, pullJson } from '#hosting/pulls/json.ts'
import { toldCommentJson } from '#hosting/reviews/comments/json.ts'
import { toldReviewJson } from '#hosting/reviews/json.ts'
import { unaddressed as wire } from './addresses.ts'
import { sortedFields } from './issues.ts'
import type { News } from './news.ts'
import { named, type Scene } from './scene.ts'

type Payload<Event extends News['event']> = Extract<News, { event: Event }>['payload']

export function pullFields(
  { action, pull_id, reviewer_id, requested_team, before, after, ...sorted }: Payload<'pull_request'>,
  scene: Scene,
) {
  const { repo, mentioned } = scene
  const pull = named(mentioned.pulls, pull_id)
  return {
    action,
    number: pull.number,
    pull_request: fullPullJson(pull, repo, wire),
    ...sortedFields(sorted, scene),
    ...(reviewer_id !== undefined && { requested_reviewer: userJson(named(mentioned.people, reviewer_id), wire) }),
    ...(requested_team && { requested_team }),
    ...(before && { before, after }),
  }
}

export function reviewFields({ pull_id, review_id, ...rest }: Payload<'pull_request_review'>, { repo, mentioned }: Scene) {
  return {
    ...rest,
    review: toldReviewJson(named(mentioned.reviews, review_id), repo, wire),
    pull_request: pullJson(named(mentioned.pulls, pull_id), repo, wire),
  }
}

export function reviewCommentFields(
  { pull_id, review_comment_id, ...rest }: Payload<'pull_request_review_comment'>,
  { repo, mentioned }: Scene,
) {
  return {
    ...rest,
    comment: toldCommentJson(named(mentioned.review_comments, review_comment_id), repo, wire),
    pull_request: pullJson(named(mentioned.pulls, pull_id), repo, wire),
  }
}
