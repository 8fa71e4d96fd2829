import { join, resolve } from 'node:path'
import { Refusal } from '#platform/errors.ts'
import type { Slice } from '#platform/listed.ts'
import { type Changes, readChanges } from './changes.ts'
import { readLog } from './log.ts'
import { type CommitObject, hasRefs, isId, resolveCommit, typesOf } from './objects.ts'
import { type Reading, runGit, within } from './run-git.ts'
import type { Storage } from './storage.ts'

export const mostCommits = 250
const patience = 30_000

export interface Comparison extends Changes {
  base: string
  head: string
  /** Null for unrelated histories; then the files are the difference of the two trees. */
  merge_base: string | null
  status: 'identical' | 'ahead' | 'behind' | 'diverged'
  ahead_by: number
  behind_by: number
  total_commits: number
  /** The latest ones or one page of all, oldest first. */
  commits: CommitObject[]
}

/** Lets git read the objects of a second repository too, without copying any. */
export function readingOf(storage: Storage, repo_id: number, other_id: number, signal: AbortSignal): Reading {
  const other = JSON.stringify(join(resolve(storage.pathOf(other_id)), 'objects'))
  const settings: Record<string, string> = repo_id === other_id ? {} : { GIT_ALTERNATE_OBJECT_DIRECTORIES: other }
  return { path: resolve(storage.pathOf(repo_id)), signal, settings }
}

/**
 * The commits and changes of the head since its merge base with the base. The head may be in another repository. `page` is a part of the
 * commits, from the oldest on.
 */
export async function compare(
  storage: Storage,
  repo_id: number,
  base_name: string,
  head_name: string,
  head_repo_id = repo_id,
  page?: Slice,
): Promise<Comparison> {
  const [base, head] = await findBoth(storage, repo_id, base_name, head_name, head_repo_id)
  return within(patience, async (signal) => {
    const reading = readingOf(storage, repo_id, head_repo_id, signal)
    const [{ ahead_by, behind_by }, merge_base] = await Promise.all([
      countApart(reading, base, head),
      findMergeBase(reading, base, head),
    ])
    // Git counts from the newest commit, and a page from the oldest.
    const { offset, limit } = page ?? { offset: Math.max(0, ahead_by - mostCommits), limit: mostCommits }
    const shown = Math.min(limit, Math.max(0, ahead_by - offset))
    const range = ['--date-order', '--reverse', `--skip=${ahead_by - offset - shown}`, `--max-count=${shown}`]
    const [commits, changes] = await Promise.all([
      shown ? readLog(reading, [head, `^${base}`], range) : [],
      readChanges(reading, merge_base ?? base, head),
    ])
    const status = ahead_by ? (behind_by ? 'diverged' : 'ahead') : behind_by ? 'behind' : 'identical'
    return { base, head, merge_base, status, ahead_by, behind_by, total_commits: ahead_by, commits, ...changes }
  })
}

/** Resolves two names to commit ids, so that git gets only ids. */
export async function findBoth(
  storage: Storage,
  repo_id: number,
  base: string,
  head: string,
  head_repo_id = repo_id,
): Promise<[string, string]> {
  // Most callers have ids of one repository already: then one git finds both.
  if (repo_id === head_repo_id && isId(base) && isId(head) && storage.has(repo_id)) {
    const types = await typesOf(storage, repo_id, [base, head])
    if (types.every((type) => type === 'commit')) return [base, head]
  }
  const [base_sha, head_sha] = await Promise.all([
    resolveCommit(storage, repo_id, base),
    resolveCommit(storage, head_repo_id, head),
  ])
  if (base_sha && head_sha) return [base_sha, head_sha]
  if (!(await hasRefs(storage, repo_id, 'refs/'))) throw new Refusal('conflict', 'Git Repository is empty.')
  throw new Refusal('missing', `No commit found for the ref ${base_sha ? head : base}`)
}

/** How many commits each of two commits has that the other has not. */
export async function countApart({ path, ...bounds }: Reading, base: string, head: string) {
  const args = ['rev-list', '--left-right', '--count', '--end-of-options', `${base}...${head}`]
  const { output } = await runGit(path, args, bounds)
  const [behind_by = 0, ahead_by = 0] = output.toString().split('\t').map(Number)
  return { ahead_by, behind_by }
}

/** If there are several, the one that git uses for comparisons. */
export async function findMergeBase({ path, ...bounds }: Reading, base: string, head: string): Promise<string | null> {
  const { output } = await runGit(path, ['merge-base', '--end-of-options', base, head], { ...bounds, expected: [0, 1] })
  return output.toString().trim() || null
}
