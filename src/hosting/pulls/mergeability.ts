import { hasSubscribers } from '#activity/outbox/subscribed-hooks.ts'
import { type Comparison, compare, readingOf } from '#git/compare.ts'
import { openComparison } from '#git/diff-text.ts'
import { readLog } from '#git/log.ts'
import { isMergeable } from '#git/merge.ts'
import { type CommitObject, findRef } from '#git/objects.ts'
import { within } from '#git/run-git.ts'
import type { Storage } from '#git/storage.ts'
import { findObstacle } from '#hosting/protection/requirements.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import type { Pull } from './pulls.ts'

export type Counts = Pick<Pull, 'commits' | 'additions' | 'deletions' | 'changed_files'>
type Found = Counts & Pick<Pull, 'mergeable_state' | 'mergeable_head' | 'mergeable_base'>

export const branchTip = async (storage: Storage, repo_id: number, branch: string) =>
  (await findRef(storage, repo_id, `refs/heads/${branch}`))?.sha

/** The commit to compare with: the current base of an open pull request, the recorded base of a closed one. */
async function baseOf(storage: Storage, pull: Pull): Promise<string> {
  const tip = pull.state === 'open' && (await branchTip(storage, pull.repo_id, pull.base_ref))
  return tip || pull.base_sha
}

/** The commits and files that a pull request adds. */
export async function comparePull(storage: Storage, pull: Pull): Promise<Comparison> {
  return compare(storage, pull.repo_id, await baseOf(storage, pull), pull.head_sha)
}

/** The last commits that a pull request adds, newest first. */
export async function listPullCommits(storage: Storage, pull: Pull, most: number): Promise<CommitObject[]> {
  const base = await baseOf(storage, pull)
  return within(patience, (signal) => {
    const reading = readingOf(storage, pull.repo_id, pull.repo_id, signal)
    return readLog(reading, [pull.head_sha, `^${base}`], [`--max-count=${most}`])
  })
}

const patience = 10_000

/** The changes as a text. */
export async function openPullText(storage: Storage, pull: Pull, medium: 'diff' | 'patch') {
  return openComparison(storage, pull.repo_id, medium, await baseOf(storage, pull), pull.head_sha)
}

export const countsOf = ({ total_commits, additions, deletions, changed_files }: Comparison): Counts => ({
  commits: total_commits,
  additions,
  deletions,
  changed_files,
})

/** The counters with another head, if a hook subscribes. Undefined when comparing takes too long, or the base contains all commits. */
export async function countsWith(db: Queryable, storage: Storage, pull: Pull, head_sha: string): Promise<Counts | undefined> {
  if (!(await hasSubscribers(db, { id: pull.repo_id }, 'pull_request'))) return undefined
  try {
    const comparison = await comparePull(storage, { ...pull, head_sha })
    return comparison.ahead_by ? countsOf(comparison) : undefined
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

/** Concurrent requests for the same pull request share one computation. */
const underway = new Map<string, Promise<Found | undefined>>()

/** Computes mergeability and counters, and stores them for the two commits that they belong to. What checks and reviews say is read anew. */
export async function refreshMergeability(db: Queryable, storage: Storage, pull: Pull): Promise<Pull> {
  if (pull.state === 'closed') return pull
  const base = await baseOf(storage, pull)
  const obstacle = await findObstacle(db, storage, pull, base)
  const known = pull.mergeable_head === pull.head_sha && pull.mergeable_base === base
  if (known && pull.mergeable_state !== 'unknown') return { ...pull, obstacle }
  const key = `${pull.id} ${base} ${pull.head_sha}`
  const looking = underway.get(key) ?? look(db, storage, pull, base).finally(() => underway.delete(key))
  underway.set(key, looking)
  return { ...pull, ...(await looking), obstacle }
}

/** Undefined when the comparison takes too long or fails; a later request tries again. */
async function look(db: Queryable, storage: Storage, pull: Pull, base: string): Promise<Found | undefined> {
  const { id, repo_id, head_sha } = pull
  try {
    const [{ state }, comparison] = await Promise.all([
      isMergeable(storage, repo_id, base, head_sha),
      compare(storage, repo_id, base, head_sha),
    ])
    // A base that contains all commits is about to be recorded as merged, so the counters stay as they were.
    const { commits, additions, deletions, changed_files } = state === 'nothing' ? pull : countsOf(comparison)
    await db.query(sql`
      update pulls set mergeable_state = ${state}, mergeable_head = ${head_sha}, mergeable_base = ${base}, commits = ${commits},
        additions = ${additions}, deletions = ${deletions}, changed_files = ${changed_files}
      where id = ${id} and head_sha = ${head_sha} and merged_at is null`)
    return {
      mergeable_state: state,
      mergeable_head: head_sha,
      mergeable_base: base,
      commits,
      additions,
      deletions,
      changed_files,
    }
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

export async function writeCounts(db: Queryable, { id }: { id: number }, counts: Counts) {
  const { commits, additions, deletions, changed_files } = counts
  await db.query(sql`
    update pulls set commits = ${commits}, additions = ${additions}, deletions = ${deletions}, changed_files = ${changed_files}
    where id = ${id}`)
}
