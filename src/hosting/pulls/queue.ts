import type { Move } from '#hosting/pushes/ref-moves.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { enqueue } from '#platform/queue.ts'

/** The head that an open pull request must get and keep, unless a push has moved it on from `before`. */
export interface Caught {
  pull_id: number
  before: string
  head_sha: string
  /** The user who reopened it. */
  actor_id?: number
}

export const enqueueCatchUp = (db: Transaction, caught: Caught) => enqueue(db, 'catch_up_pull', caught)

/** Enqueues a job for each moved branch that is the head or base of an open pull request. */
export async function enqueueFollowers(db: Transaction, repo_id: number, moves: Move[]) {
  const listed = moves.map(({ ref, before, after, push }) => ({ ref, before, after, pusher_id: push.pusher_id }))
  await db.query(sql`
    select graphile_worker.add_job('follow_branch', json_build_object('repo_id', ${repo_id}::bigint, 'branch', moved.branch,
      'before', moved.before, 'after', moved.after, 'pusher_id', moved.pusher_id), run_at := ${db.now}::timestamptz)
    from (select substr(ref, 12) as branch, before, after, pusher_id
      from jsonb_to_recordset(${JSON.stringify(listed)}::jsonb) as m (ref text, before text, after text, pusher_id bigint)
      where ref like 'refs/heads/%') moved
    where exists (select from pulls p join issues i on i.id = p.issue_id
      where p.head_repo_id = ${repo_id} and p.head_ref = moved.branch and i.state = 'open')
    or exists (select from pulls p join issues i on i.id = p.issue_id
      where p.repo_id = ${repo_id} and p.base_ref = moved.branch and i.state = 'open')`)
}

/**
 * Enqueues jobs that update the open pull requests from a branch, or from any branch of a repository, to its current tip. Because the job's
 * `before` and `after` are the same, pull requests into the branch do not change.
 */
export async function enqueueCurrent(
  db: Transaction,
  { repo_id, branch = null, pusher_id }: { repo_id: number; branch?: string | null; pusher_id: number },
) {
  await db.query(sql`
    select graphile_worker.add_job('follow_branch', json_build_object('repo_id', f.repo_id, 'branch', substr(f.name, 12),
      'before', f.sha, 'after', f.sha, 'pusher_id', ${pusher_id}::bigint), run_at := ${db.now}::timestamptz)
    from refs f where f.repo_id = ${repo_id} and f.name in (
      select 'refs/heads/' || p.head_ref from pulls p join issues i on i.id = p.issue_id
      where p.head_repo_id = ${repo_id} and p.repo_id <> ${repo_id} and p.head_ref = coalesce(${branch}, p.head_ref) and i.state = 'open')`)
}
