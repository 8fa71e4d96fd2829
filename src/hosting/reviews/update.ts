import type { Act } from '#activity/acts.ts'
import { publish } from '#activity/publish.ts'
import type { Storage } from '#git/storage.ts'
import { touchIssue } from '#hosting/issues/issues.ts'
import { checkMayEdit, mayPush } from '#hosting/issues/rights.ts'
import { checkMayDismiss } from '#hosting/protection/merge-rules.ts'
import { loadPull, lockPull, type Pull } from '#hosting/pulls/pulls.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account } from '#identity/accounts.ts'
import { type Database, type Queryable, sql, type Transaction } from '#platform/database.ts'
import { forbidden, Refusal } from '#platform/errors.ts'
import { putReviewComments, saidIn } from './comments/comments.ts'
import { findReviewed, type RequestedPosition, resolvePositions } from './diff-position.ts'
import { loadReview, putReview, type Review } from './reviews.ts'

/** The verdict that submits a review. */
export type Verdict = 'APPROVE' | 'REQUEST_CHANGES' | 'COMMENT'
const states = { APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED', COMMENT: 'COMMENTED' } as const

export interface NewReview {
  body: string
  /** Without a verdict, the review stays pending until it is submitted. */
  event?: Verdict | undefined
  commit_id?: string | null | undefined
  comments: (RequestedPosition & { body: string })[]
}

export async function createReview(
  db: Database,
  storage: Storage,
  repo: Repository,
  author: Account,
  number: number,
  { event, body, commit_id, comments }: NewReview,
): Promise<Review> {
  const pull = await loadPull(db, repo, number)
  checkMayReview(repo, pull)
  if (event) checkVerdict(pull, author, event, body, comments.length)
  if (comments.some((comment) => comment.body.trim() === '')) throw refused("Body can't be blank")
  const commit = await inWords(findReviewed(storage, pull, commit_id))
  const positions = await inWords(resolvePositions(storage, pull, commit, comments))
  const written = positions.map((position, index) => ({
    ...position,
    body: comments[index]?.body ?? '',
    commit_id: commit,
  }))
  return db.transaction(async (transaction) => {
    const held = await lockPull(transaction, repo, number)
    checkMayReview(repo, held)
    if (!event && (await hasPending(transaction, held, author))) {
      throw refused('User can only have one pending review per pull request')
    }
    const made = await putReview(transaction, held, author, { state: event ? states[event] : 'PENDING', body, commit_id: commit })
    await putReviewComments(transaction, made, written)
    if (event) await tellOf(transaction, repo, held, author, made, body)
    return loadReview(transaction, held, author, made.id)
  })
}

export async function submitReview(
  db: Transaction,
  repo: Repository,
  author: Account,
  number: number,
  id: number,
  event: Verdict,
  said: string | undefined,
): Promise<Review> {
  const pull = await lockPull(db, repo, number)
  const review = await loadReview(db, pull, author, id)
  if (review.state !== 'PENDING') throw refused('Can not submit a review that is not pending')
  checkMayReview(repo, pull)
  const body = said ?? review.body
  checkVerdict(pull, author, event, body, (await saidIn(db, review)).length)
  await db.query(sql`
    update reviews set state = ${states[event]}, body = ${body}, submitted_at = ${db.now}, updated_at = ${db.now} where id = ${id}`)
  await tellOf(db, repo, pull, author, review, body)
  return loadReview(db, pull, author, id)
}

/** Publishes a submitted review once, with its comments. */
async function tellOf(db: Transaction, repo: Repository, pull: Pull, author: Account, review: { id: number }, body: string) {
  await db.query(sql`delete from review_requests where pull_id = ${pull.id} and user_id = ${author.id}`)
  await touchIssue(db, { id: pull.issue_id })
  const comments = await saidIn(db, review)
  const facts = { issue_id: pull.issue_id, pull_id: pull.id }
  const texts = [body, ...comments.map((comment) => comment.body)].filter((text) => text !== '')
  const submitted: Act = { act: 'review.submitted', ...facts, review_id: review.id, body: texts.join('\n\n') }
  const lines = comments.map(({ id }): Act => ({ act: 'review_comment.submitted', ...facts, review_comment_id: id }))
  await publish(db, author, repo, submitted, ...lines)
}

export async function updateReview(db: Transaction, repo: Repository, editor: Account, number: number, id: number, body: string) {
  const pull = await lockPull(db, repo, number)
  const review = await loadReview(db, pull, editor, id)
  checkMayEdit(repo, editor, review.author)
  if (body.trim() === '') throw refused("Body can't be blank")
  await db.query(
    sql`update reviews set body = ${body}, editor_id = ${editor.id}, updated_at = greatest(updated_at, ${db.now}) where id = ${id}`,
  )
  if (review.state !== 'PENDING' && review.body !== body) {
    const facts = { issue_id: pull.issue_id, pull_id: pull.id, review_id: id, body, changes: { body: { from: review.body } } }
    await publish(db, editor, repo, { act: 'review.edited', ...facts })
  }
  return loadReview(db, pull, editor, id)
}

export async function deletePendingReview(db: Transaction, repo: Repository, author: Account, number: number, id: number) {
  const pull = await lockPull(db, repo, number)
  const review = await loadReview(db, pull, author, id)
  if (review.state !== 'PENDING') throw refused('Can not delete a non-pending pull request review')
  await db.query(sql`delete from reviews where id = ${id}`)
  return review
}

/** Withdraws the verdict of a review; its texts remain. */
export async function dismissReview(
  db: Transaction,
  repo: Repository,
  editor: Account,
  number: number,
  id: number,
  message: string,
): Promise<Review> {
  const pull = await lockPull(db, repo, number)
  const review = await loadReview(db, pull, editor, id)
  if (!['APPROVED', 'CHANGES_REQUESTED'].includes(review.state)) {
    throw refused(`Can not dismiss a ${review.state.toLowerCase()} pull request review`)
  }
  if (message.trim() === '') throw refused("Message can't be blank")
  await checkMayDismiss(db, repo, editor, pull.base_ref)
  await db.query(sql`
    update reviews set state = 'DISMISSED', dismissal = ${message}, updated_at = greatest(updated_at, ${db.now}) where id = ${id}`)
  await touchIssue(db, { id: pull.issue_id })
  const facts = { issue_id: pull.issue_id, pull_id: pull.id, review_id: id }
  await publish(db, editor, repo, { act: 'review.dismissed', ...facts })
  return loadReview(db, pull, editor, id)
}

export function checkMayReview(repo: Repository, { locked }: Pull) {
  if (locked && !mayPush(repo)) throw forbidden('Unable to create comment because issue is locked.')
}

function checkVerdict(pull: Pull, author: Account, event: Verdict, body: string, comments: number) {
  if (event !== 'COMMENT' && pull.author?.id === author.id) {
    throw refused(`Can not ${event === 'APPROVE' ? 'approve' : 'request changes on'} your own pull request`)
  }
  // A review of kind COMMENT needs a body or at least one comment.
  if (body.trim() === '' && (event === 'REQUEST_CHANGES' || (event === 'COMMENT' && !comments))) {
    throw refused("Body can't be blank")
  }
}

async function hasPending(db: Queryable, pull: Pull, author: { id: number }) {
  const { rowCount } = await db.query(
    sql`select from reviews where pull_id = ${pull.id} and author_id = ${author.id} and state = 'PENDING'`,
  )
  return rowCount === 1
}

/** The documentation has errors of a review as sentences, and errors of a single comment by field. */
async function inWords<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const { faults } = error as Partial<Refusal>
    throw faults ? refused(faults.map(({ message, field }) => message ?? `${field} wasn't supplied`).join(' ')) : error
  }
}

const refused = (message: string) => new Refusal('invalid', message)
