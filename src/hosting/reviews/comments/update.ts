import { publish } from '#activity/publish.ts'
import type { Storage } from '#git/storage.ts'
import { touchIssue } from '#hosting/issues/issues.ts'
import { checkMayEdit } from '#hosting/issues/rights.ts'
import { loadPull, lockPull } from '#hosting/pulls/pulls.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { fault, findReviewed, type RequestedPosition, resolvePositions } from '#hosting/reviews/diff-position.ts'
import { putReview } from '#hosting/reviews/reviews.ts'
import { checkMayReview } from '#hosting/reviews/update.ts'
import type { Account } from '#identity/accounts.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { loadReviewComment, type NewReviewComment, putReviewComments, type ReviewComment } from './comments.ts'

export async function createReviewComment(
  db: Database,
  storage: Storage,
  repo: Repository,
  author: Account,
  number: number,
  { commit_id, ...wanted }: RequestedPosition & { body: string; commit_id: string },
): Promise<ReviewComment> {
  const pull = await loadPull(db, repo, number)
  checkMayReview(repo, pull)
  const body = checkBody(wanted.body)
  const commit = await findReviewed(storage, pull, commit_id)
  const [found] = await resolvePositions(storage, pull, commit, [wanted])
  if (!found) throw missing()
  return db.transaction((transaction) => say(transaction, repo, author, number, { ...found, body, commit_id: commit }))
}

/** A reply has the position of the first comment of its thread. */
export async function replyToReviewComment(
  db: Transaction,
  repo: Repository,
  author: Account,
  number: number,
  id: number,
  body: string,
): Promise<ReviewComment> {
  const first = await loadReviewComment(db, repo, null, id)
  if (first.pull_number !== number) throw missing()
  const { path, subject_type, diff_hunk, position, line, side, start_line, start_side, commit_id } = first
  const found = { path, subject_type, diff_hunk, position, line, side, start_line, start_side }
  const in_reply_to_id = first.in_reply_to_id ?? first.id
  return say(db, repo, author, number, { ...found, body: checkBody(body), commit_id, in_reply_to_id })
}

/** A single comment is a review of its own without a body. */
async function say(db: Transaction, repo: Repository, author: Account, number: number, comment: NewReviewComment) {
  const pull = await lockPull(db, repo, number)
  checkMayReview(repo, pull)
  const review = await putReview(db, pull, author, { state: 'COMMENTED', body: '', commit_id: comment.commit_id })
  const [id = 0] = await putReviewComments(db, review, [comment])
  await touchIssue(db, { id: pull.issue_id })
  const facts = { issue_id: pull.issue_id, pull_id: pull.id, review_id: review.id, review_comment_id: id, body: comment.body }
  await publish(db, author, repo, { act: 'review_comment.created', ...facts })
  return loadReviewComment(db, repo, author, id)
}

export async function updateReviewComment(db: Transaction, repo: Repository, editor: Account, id: number, wanted: string) {
  const body = checkBody(wanted)
  const { pull, comment } = await lockComment(db, repo, editor, id)
  await db.query(sql`
    update review_comments set body = ${body}, editor_id = ${editor.id}, updated_at = greatest(updated_at, ${db.now}) where id = ${id}`)
  if (comment.review_state !== 'PENDING' && comment.body !== body) {
    const changes = { body: { from: comment.body } }
    const facts = { issue_id: pull.issue_id, pull_id: pull.id, review_comment_id: id, body, changes }
    await publish(db, editor, repo, { act: 'review_comment.edited', ...facts })
  }
  return loadReviewComment(db, repo, editor, id)
}

export async function deleteReviewComment(db: Transaction, repo: Repository, editor: Account, id: number) {
  const { pull, comment } = await lockComment(db, repo, editor, id)
  if (comment.review_state !== 'PENDING') {
    const facts = { issue_id: pull.issue_id, pull_id: pull.id, review_comment_id: id }
    await publish(db, editor, repo, { act: 'review_comment.deleted', ...facts })
  }
  await db.query(sql`delete from review_comments where id = ${id}`)
  // A review without a body is deleted with its last comment.
  await db.query(sql`
    delete from reviews v where v.id = ${comment.review_id} and v.state = 'COMMENTED' and v.body = ''
      and not exists (select from review_comments c where c.review_id = v.id)`)
}

/** Locks the pull request, and reads the comment. */
async function lockComment(db: Transaction, repo: Repository, editor: Account, id: number) {
  const { pull_number } = await loadReviewComment(db, repo, editor, id)
  const pull = await lockPull(db, repo, pull_number)
  const comment = await loadReviewComment(db, repo, editor, id)
  checkMayEdit(repo, editor, comment.author)
  return { pull, comment }
}

export function checkBody(body: string) {
  if (body.trim() === '') throw fault({ code: 'missing_field', field: 'body' })
  return body
}
