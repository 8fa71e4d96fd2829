import type { Facts } from '#activity/facts.ts'
import { userJson } from '#hosting/people/json.ts'
import { fullPullJson, headOf, pullJson } from '#hosting/pulls/json.ts'
import type { ReviewComment } from '#hosting/reviews/comments/comments.ts'
import { timelineCommentJson } from '#hosting/reviews/comments/json.ts'
import { timelineReviewJson } from '#hosting/reviews/json.ts'
import { teamJson } from '#hosting/teams/json.ts'
import { nodeId } from '#http/serialization.ts'
import { triageFields } from './issue-payload.ts'
import { ghost, mustGet, type PayloadContext, unaddressed as wire } from './payload-context.ts'
import { deliveredRepositoryJson } from './repository-payload.ts'

/** Undefined when the act is about a secret team: hooks are set by repository admins, who may not know it. */
export function pullPayload(facts: Partial<Facts>, context: PayloadContext) {
  const { requested_reviewer_id: reviewer_id, requested_team_id: team_id, before, after } = facts
  const { accounts, teams } = context.records
  const team = team_id === undefined ? undefined : teams.get(team_id)
  if (team_id !== undefined && !team) return undefined
  const pull_request = deliveredPullJson(facts, context, fullPullJson)
  return {
    number: pull_request.number,
    pull_request,
    ...triageFields(facts, context),
    ...(reviewer_id !== undefined && { requested_reviewer: userJson(mustGet(accounts, reviewer_id), wire) }),
    ...(team && { requested_team: teamJson(team, wire) }),
    ...(before && { before, after }),
  }
}

/** With both repositories as payloads show them. */
function deliveredPullJson<Json extends ReturnType<typeof pullJson>>(
  { pull_id }: Partial<Facts>,
  { repo, records }: PayloadContext,
  write: (...args: Parameters<typeof pullJson>) => Json,
): Json {
  const pull = mustGet(records.pulls, pull_id)
  const json = write({ ...pull, author: pull.author ?? ghost, head_owner: pull.head_owner ?? ghost }, repo, wire)
  const head = headOf(pull, repo)
  return {
    ...json,
    head: { ...json.head, repo: head && deliveredRepositoryJson(head) },
    base: { ...json.base, repo: deliveredRepositoryJson(repo) },
  }
}

/** Here, unlike elsewhere, the state is in lower case and an empty body is null. */
export function reviewPayload(facts: Partial<Facts>, context: PayloadContext) {
  const found = mustGet(context.records.reviews, facts.review_id)
  const review = timelineReviewJson({ ...found, author: found.author ?? ghost }, context.repo, wire)
  return {
    ...(facts.changes && { changes: facts.changes }),
    review: { ...review, body: review.body || null, state: review.state.toLowerCase() },
    pull_request: deliveredPullJson(facts, context, pullJson),
  }
}

/** Receivers expect lines, which a comment on a whole file does not have: it is shown above the first line. */
const lines = { start_line: null, original_start_line: null, start_side: null, line: null, original_line: 1, side: 'RIGHT' }

const deliveredCommentJson = (comment: ReviewComment, { repo }: PayloadContext) => ({
  ...lines,
  ...timelineCommentJson({ ...comment, author: comment.author ?? ghost }, repo, wire),
})

export function reviewCommentPayload(facts: Partial<Facts>, context: PayloadContext) {
  const comment = mustGet(context.records.review_comments, facts.review_comment_id)
  return {
    ...(facts.changes && { changes: facts.changes }),
    comment: deliveredCommentJson(comment, context),
    pull_request: deliveredPullJson(facts, context, pullJson),
  }
}

export function reviewThreadPayload(facts: Partial<Facts>, context: PayloadContext) {
  const { id, comments } = mustGet(context.records.review_threads, facts.review_thread_id)
  return {
    thread: {
      node_id: nodeId('PullRequestReviewThread', id),
      comments: comments.map((comment) => deliveredCommentJson(comment, context)),
    },
    pull_request: deliveredPullJson(facts, context, pullJson),
  }
}
