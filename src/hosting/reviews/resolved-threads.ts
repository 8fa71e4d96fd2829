import { publish } from '#activity/publish.ts'
import { personOf } from '#hosting/issues/authors.ts'
import { mayPush } from '#hosting/issues/rights.ts'
import type { Pull } from '#hosting/pulls/pulls.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account, Person } from '#identity/accounts.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { forbidden, missing } from '#platform/errors.ts'
import { loadReviewComment, type ReviewComment } from './comments/comments.ts'

export interface Resolution {
  thread_id: number
  /** Null if the account is deleted. */
  resolver: Person | null
  resolved_at: Date
}

/** Which of these threads are resolved, by whom and when. */
export async function findResolutions(db: Queryable, thread_ids: number[]): Promise<Map<number, Resolution>> {
  if (!thread_ids.length) return new Map()
  const rows = await db.rows<Resolution>(sql`
    select t.thread_id, ${personOf(sql`t.resolver_id`)} as resolver, t.resolved_at
    from resolved_threads t where t.thread_id = any(${thread_ids})`)
  return new Map(rows.map((row) => [row.thread_id, row]))
}

/** The author of the thread, the author of the pull request, and users with push access. In a locked conversation, only the latter. */
export function mayResolve(
  repo: Repository,
  pull: Pick<Pull, 'author' | 'locked'>,
  viewer: { id: number } | null,
  { author }: Pick<ReviewComment, 'author'>,
): boolean {
  if (!viewer || repo.archived) return false
  return mayPush(repo) || (!pull.locked && [author?.id, pull.author?.id].includes(viewer.id))
}

/** Resolves or unresolves a thread, by the id of its first comment. Nothing changes if it already is so. */
export async function setResolved(
  db: Transaction,
  repo: Repository,
  pull: Pull,
  viewer: Account,
  thread_id: number,
  resolved: boolean,
): Promise<void> {
  const first = await loadReviewComment(db, repo, viewer, thread_id)
  if (first.pull_id !== pull.id || first.in_reply_to_id !== null || first.review_state === 'PENDING') throw missing()
  if (!mayResolve(repo, pull, viewer, first)) {
    throw forbidden('Only its author, the author of the pull request and users with push access can resolve a conversation.')
  }
  // The lock keeps the comment from being deleted in between.
  const { rowCount } = await db.query(
    resolved
      ? sql`
    insert into resolved_threads (thread_id, repo_id, pull_id, resolver_id, resolved_at)
    select c.id, c.repo_id, c.pull_id, ${viewer.id}, ${db.now} from review_comments c where c.id = ${thread_id} for key share
    on conflict (thread_id) do nothing`
      : sql`delete from resolved_threads where thread_id = ${thread_id}`,
  )
  const facts = { issue_id: pull.issue_id, pull_id: pull.id, review_thread_id: thread_id }
  if (rowCount)
    await publish(db, viewer, repo, { act: resolved ? 'review_thread.resolved' : 'review_thread.unresolved', ...facts })
}
