import type { Act } from '#activity/acts.ts'
import { publish } from '#activity/publish.ts'
import type { Move } from '#hosting/pushes/ref-moves.ts'
import { keptId } from '#hosting/repositories/deletion-lock.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { type Counts, writeCounts } from './mergeability.ts'

/** Locks the pull requests before their repository: the same order as closing one. */
export async function lockMerged(db: Transaction, repo: { id: number }, moves: Move[]) {
  const ids = moves.flatMap(({ command }) => command?.merges ?? [])
  if (!ids.length) return
  await db.query(sql`
    select from issues where repo_id = ${keptId(repo)} and id in (select issue_id from pulls where id = any(${ids}))
    order by id for no key update`)
}

/**
 * A merge is a push that names its pull request. Both are recorded in one transaction: even after a crash there is
 * no merged branch with an open pull request, nor the other way round.
 */
export async function markMerged(db: Transaction, repo: { id: number }, moves: Move[]) {
  for (const { command, before, after, push } of moves) {
    const ends = { base_sha: before, sha: after }
    if (command?.merges) await becomeMerged(db, repo, command.merges, { id: push.pusher_id }, ends)
  }
}

/** Marks a pull request as merged, once. `sha` is the commit of the base that contains it, `counts` are its final counters. */
export async function becomeMerged(
  db: Transaction,
  repo: { id: number },
  pull_id: number,
  merger: { id: number },
  { base_sha, sha, counts }: { base_sha: string; sha: string; counts?: Counts },
) {
  await db.query(sql`
    select from issues where repo_id = ${keptId(repo)} and id = (select issue_id from pulls where id = ${pull_id}) for no key update`)
  const pull = await db.first<{ issue_id: number; state: 'open' | 'closed' }>(sql`
    select p.issue_id, i.state from pulls p join issues i on i.id = p.issue_id where p.id = ${pull_id} and p.merged_at is null`)
  if (!pull) return
  await closeIssue(db, pull.issue_id, merger)
  await db.query(sql`
    update pulls set merged_at = ${db.now}, merged_by_id = ${merger.id}, merge_commit_sha = ${sha}, base_sha = ${base_sha}
    where id = ${pull_id}`)
  if (counts) await writeCounts(db, { id: pull_id }, counts)
  const facts = { issue_id: pull.issue_id, pull_id }
  const closing: Act[] = pull.state === 'open' ? [{ act: 'pull.closed_by_merge', ...facts }] : []
  const merged: Act = { act: 'pull.merged', ...facts, merged: true, commit_id: sha }
  await publish(db, merger, repo, merged, ...closing)
}

/** Closes a pull request whose base was deleted. */
export async function closeBaseless(
  db: Transaction,
  { issue_id, repo_id }: { issue_id: number; repo_id: number },
  closer: { id: number },
) {
  await db.query(sql`select from issues where id = ${issue_id} and repo_id = ${keptId({ id: repo_id })} for no key update`)
  const pull = await db.first<{ id: number; repo_id: number }>(sql`
    select p.id, p.repo_id from pulls p join issues i on i.id = p.issue_id where p.issue_id = ${issue_id} and i.state = 'open'`)
  if (!pull) return
  await closeIssue(db, issue_id, closer)
  const facts = { issue_id, pull_id: pull.id, state_reason: null }
  await publish(db, closer, { id: pull.repo_id }, { act: 'pull.closed', ...facts })
}

async function closeIssue(db: Transaction, id: number, { id: closer_id }: { id: number }) {
  await db.query(sql`
    update issues set state = 'closed', closed_at = ${db.now}, closed_by_id = ${closer_id}, updated_at = greatest(updated_at, ${db.now})
    where id = ${id}`)
}
