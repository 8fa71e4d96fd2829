import type { Storage } from '#git/storage.ts'
import { loadPull, lockPull, type Pull } from '#hosting/pulls/pulls.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account } from '#identity/accounts.ts'
import { type Database, type Queryable, sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { putReviewComments } from './comments/comments.ts'
import { checkBody } from './comments/update.ts'
import { findReviewed, type RequestedPosition, resolvePositions } from './diff-position.ts'
import { putReview } from './reviews.ts'
import { checkMayReview } from './update.ts'

export interface PendingReview {
  id: number
  repo_id: number
  pull_id: number
  author_id: number
  body: string
  /** How many comments it has. */
  comments: number
}

/** The viewer's review that is not submitted yet; there is at most one. */
export async function findPending(db: Queryable, pull: { id: number }, viewer: { id: number } | null) {
  if (!viewer) return undefined
  return db.first<PendingReview>(sql`
    select v.id, v.repo_id, v.pull_id, v.author_id, v.body,
      (select count(*) from review_comments c where c.review_id = v.id)::int as comments
    from reviews v where v.pull_id = ${pull.id} and v.author_id = ${viewer.id} and v.state = 'PENDING'`)
}

/** Adds a comment to the author's pending review, and begins that review if there is none. */
export async function addPendingComment(
  db: Database,
  storage: Storage,
  repo: Repository,
  author: Account,
  number: number,
  { commit_id, body: said, ...wanted }: RequestedPosition & { body: string; commit_id: string },
): Promise<{ id: number; pull: Pull }> {
  const pull = await loadPull(db, repo, number)
  checkMayReview(repo, pull)
  const body = checkBody(said)
  const commit = await findReviewed(storage, pull, commit_id)
  const [position] = await resolvePositions(storage, pull, commit, [wanted])
  if (!position) throw missing()
  return db.transaction(async (transaction) => {
    const held = await lockPull(transaction, repo, number)
    checkMayReview(repo, held)
    const review =
      (await findPending(transaction, held, author)) ??
      (await putReview(transaction, held, author, { state: 'PENDING', body: '', commit_id: commit }))
    const [id = 0] = await putReviewComments(transaction, review, [{ ...position, body, commit_id: commit }])
    return { id, pull: held }
  })
}
