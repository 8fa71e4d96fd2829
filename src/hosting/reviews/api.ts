import { loadPull } from '#hosting/pulls/pulls.ts'
import { del, get, group, listOf, paged, post, put } from '#http/endpoint.ts'
import { Type } from '#platform/schema.ts'
import { listCommentsOfReview } from './comments/comments.ts'
import { ReviewCommentSchema, reviewCommentJson } from './comments/json.ts'
import { ReviewSchema, reviewJson } from './json.ts'
import { Commit, positionFields, Said } from './position-fields.ts'
import { listReviews, loadReview } from './reviews.ts'
import { createReview, deletePendingReview, dismissReview, submitReview, updateReview, type Verdict } from './update.ts'

const reading = { permission: 'pull_requests:read', viewer: 'optional', optional_scopes: ['repo'] } as const
const writing = { writable: true, permission: 'pull_requests:write', scopes: ['public_repo', 'repo'] } as const

const Event = Type.Unsafe<Verdict>({ type: 'string', enum: ['APPROVE', 'REQUEST_CHANGES', 'COMMENT'] })
const NullableSaid = Type.Unsafe<string | null>({ ...Said, type: ['string', 'null'] })
const Comment = Type.Object({ body: Said, ...positionFields })

const all = '/repos/{owner}/{repo}/pulls/{pull_number}/reviews'
const one = '/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}'

export const api = group('Reviews', [
  get(
    all,
    {
      ...reading,
      operation: 'pulls/list-reviews',
      summary: 'List the reviews of a pull request, oldest first; only its author sees a pending one',
      ...listOf(ReviewSchema),
    },
    async ({ db, repo, viewer, params, page, wire }) => {
      const pull = await loadPull(db, repo, params.pull_number)
      return paged(await listReviews(db, pull, viewer, page), (row) => reviewJson(row, repo, wire))
    },
  ),
  post(
    all,
    {
      ...writing,
      operation: 'pulls/create-review',
      summary: 'Review a pull request; without an event, the review is pending until it is submitted',
      body: Type.Partial(
        Type.Object({
          body: NullableSaid,
          event: Event,
          commit_id: Commit,
          comments: Type.Array(Comment, { maxItems: 200 }),
        }),
      ),
      own_transaction: true,
      answers: { 200: ReviewSchema },
    },
    async ({ db, storage, repo, viewer, params, body, wire }) => {
      const wanted = { ...body, body: body.body ?? '', comments: body.comments ?? [] }
      return reviewJson(await createReview(db, storage, repo, viewer, params.pull_number, wanted), repo, wire)
    },
  ),
  get(
    one,
    { ...reading, operation: 'pulls/get-review', summary: 'Get a review', answers: { 200: ReviewSchema } },
    async ({ db, repo, viewer, params, wire }) => {
      const pull = await loadPull(db, repo, params.pull_number)
      return reviewJson(await loadReview(db, pull, viewer, params.review_id), repo, wire)
    },
  ),
  put(
    one,
    {
      ...writing,
      operation: 'pulls/update-review',
      summary: 'Change the body of a review, as its author or with push access',
      body: Type.Object({ body: Said }),
      answers: { 200: ReviewSchema },
    },
    async ({ db, repo, viewer, params, body, wire }) => {
      const { pull_number, review_id } = params
      return reviewJson(await updateReview(db, repo, viewer, pull_number, review_id, body.body), repo, wire)
    },
  ),
  post(
    '/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/events',
    {
      ...writing,
      operation: 'pulls/submit-review',
      summary: 'Submit a pending review',
      body: Type.Object({ event: Event, body: Type.Optional(NullableSaid) }),
      answers: { 200: ReviewSchema },
    },
    async ({ db, repo, viewer, params, body, wire }) => {
      const { pull_number, review_id } = params
      const said = body.body ?? undefined
      return reviewJson(await submitReview(db, repo, viewer, pull_number, review_id, body.event, said), repo, wire)
    },
  ),
  del(
    one,
    {
      ...writing,
      operation: 'pulls/delete-pending-review',
      summary: 'Delete a pending review of the caller',
      answers: { 200: ReviewSchema },
    },
    async ({ db, repo, viewer, params, wire }) =>
      reviewJson(await deletePendingReview(db, repo, viewer, params.pull_number, params.review_id), repo, wire),
  ),
  put(
    '/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/dismissals',
    {
      ...writing,
      operation: 'pulls/dismiss-review',
      summary: 'Dismiss a review that approved or requested changes',
      access: 'push',
      body: Type.Object({
        message: Said,
        event: Type.Optional(Type.Unsafe<'DISMISS'>({ type: 'string', enum: ['DISMISS'] })),
      }),
      answers: { 200: ReviewSchema },
    },
    async ({ db, repo, viewer, params, body, wire }) => {
      const { pull_number, review_id } = params
      return reviewJson(await dismissReview(db, repo, viewer, pull_number, review_id, body.message), repo, wire)
    },
  ),
  get(
    '/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/comments',
    {
      ...reading,
      operation: 'pulls/list-comments-for-review',
      summary: 'List the comments of a review, oldest first',
      ...listOf(ReviewCommentSchema),
    },
    async ({ db, repo, viewer, params, page, wire }) => {
      const pull = await loadPull(db, repo, params.pull_number)
      const review = await loadReview(db, pull, viewer, params.review_id)
      return paged(await listCommentsOfReview(db, review, page), (row) => reviewCommentJson(row, repo, wire))
    },
  ),
])
