import { loadPull } from '#hosting/pulls/pulls.ts'
import { fault } from '#hosting/reviews/diff-position.ts'
import { Commit, positionFields, Said } from '#hosting/reviews/position-fields.ts'
import { created, del, get, group, listOf, paged, patch, post } from '#http/endpoint.ts'
import { choice, text } from '#http/input.ts'
import { Nothing } from '#http/serialization.ts'
import { Type } from '#platform/schema.ts'
import { listReviewComments, loadReviewComment } from './comments.ts'
import { ReviewCommentSchema, reviewCommentJson } from './json.ts'
import { createReviewComment, deleteReviewComment, replyToReviewComment, updateReviewComment } from './update.ts'

const reading = { permission: 'pull_requests:read', viewer: 'optional', optional_scopes: ['repo'] } as const
const writing = { writable: true, permission: 'pull_requests:write', scopes: ['public_repo', 'repo'] } as const
const SaidAgain = Type.Object({ body: Said })

const of = '/repos/{owner}/{repo}/pulls/{pull_number}/comments'
const one = '/repos/{owner}/{repo}/pulls/comments/{comment_id}'

export const api = group('Review comments', [
  get(
    '/repos/{owner}/{repo}/pulls/comments',
    {
      ...reading,
      operation: 'pulls/list-review-comments-for-repo',
      summary: 'List the review comments of all pull requests of a repository',
      query: { sort: choice('created', 'updated', 'created_at'), direction: choice('asc', 'desc'), since: text() },
      ...listOf(ReviewCommentSchema),
    },
    async ({ db, repo, viewer, query, page, wire }) =>
      paged(await listReviewComments(db, { repo }, viewer, query, page), (row) => reviewCommentJson(row, repo, wire)),
  ),
  get(
    of,
    {
      ...reading,
      operation: 'pulls/list-review-comments',
      summary: 'List the review comments of a pull request',
      query: { sort: choice('created', 'updated'), direction: choice('asc', 'desc'), since: text() },
      ...listOf(ReviewCommentSchema),
    },
    async ({ db, repo, viewer, params, query, page, wire }) => {
      const pull = await loadPull(db, repo, params.pull_number)
      return paged(await listReviewComments(db, { pull }, viewer, query, page), (row) => reviewCommentJson(row, repo, wire))
    },
  ),
  post(
    of,
    {
      ...writing,
      operation: 'pulls/create-review-comment',
      summary: 'Comment on a line, several lines or a whole file that a pull request changes',
      body: Type.Object({
        body: Said,
        commit_id: Type.Optional(Commit),
        ...positionFields,
        path: Type.Optional(positionFields.path),
        in_reply_to: Type.Optional(
          Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1, maximum: 999_999_999_999_999 }),
        ),
      }),
      own_transaction: true,
      answers: { 201: ReviewCommentSchema },
    },
    async ({ db, storage, repo, viewer, params, body, wire }) => {
      const { pull_number } = params
      const { in_reply_to, path, commit_id, ...rest } = body
      // A reply takes its position from the comment that it replies to, and ignores other fields.
      if (in_reply_to != null) {
        const reply = await db.transaction((transaction) =>
          replyToReviewComment(transaction, repo, viewer, pull_number, in_reply_to, body.body),
        )
        return created(reviewCommentJson(reply, repo, wire))
      }
      if (path === undefined) throw fault({ code: 'missing_field', field: 'path' })
      if (commit_id == null) throw fault({ code: 'missing_field', field: 'commit_id' })
      const comment = await createReviewComment(db, storage, repo, viewer, pull_number, { ...rest, path, commit_id })
      return created(reviewCommentJson(comment, repo, wire))
    },
  ),
  post(
    '/repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies',
    {
      ...writing,
      operation: 'pulls/create-reply-for-review-comment',
      summary: 'Reply to a review comment',
      body: SaidAgain,
      answers: { 201: ReviewCommentSchema },
    },
    async ({ db, repo, viewer, params, body, wire }) => {
      const { pull_number, comment_id } = params
      return created(
        reviewCommentJson(await replyToReviewComment(db, repo, viewer, pull_number, comment_id, body.body), repo, wire),
      )
    },
  ),
  get(
    one,
    {
      ...reading,
      operation: 'pulls/get-review-comment',
      summary: 'Get a review comment',
      answers: { 200: ReviewCommentSchema },
    },
    async ({ db, repo, viewer, params, wire }) =>
      reviewCommentJson(await loadReviewComment(db, repo, viewer, params.comment_id), repo, wire),
  ),
  patch(
    one,
    {
      ...writing,
      operation: 'pulls/update-review-comment',
      summary: 'Change a review comment, as its author or with push access',
      body: SaidAgain,
      answers: { 200: ReviewCommentSchema },
    },
    async ({ db, repo, viewer, params, body, wire }) =>
      reviewCommentJson(await updateReviewComment(db, repo, viewer, params.comment_id, body.body), repo, wire),
  ),
  del(
    one,
    {
      ...writing,
      operation: 'pulls/delete-review-comment',
      summary: 'Delete a review comment, as its author or with push access',
      answers: { 204: Nothing },
    },
    ({ db, repo, viewer, params }) => deleteReviewComment(db, repo, viewer, params.comment_id),
  ),
])
