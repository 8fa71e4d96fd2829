import { hash } from 'node:crypto'
import { countApart, readingOf } from '#git/compare.ts'
import { type CommitSummary, readSummaries } from '#git/last-commits.ts'
import { within } from '#git/run-git.ts'
import type { Storage } from '#git/storage.ts'
import { CommitCache, ifSoon } from '#hosting/contents/commit-cache.ts'
import { protectedAmong } from '#hosting/protection/protected-branches.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { type Queryable, sql } from '#platform/database.ts'
import type { Listed, Slice } from '#platform/listed.ts'
import { findRecordedRefs, type RecordedBranch, searchBranches } from './recorded-refs.ts'

export interface ListedBranch extends RecordedBranch {
  commit: CommitSummary | undefined
  protected: boolean
  /** Compared with the default branch; undefined if that takes too long. */
  apart: { ahead_by: number; behind_by: number } | undefined
  /** The latest pull request from this branch within the repository. */
  pull: BranchPull | undefined
}

interface BranchPull {
  head_ref: string
  number: number
  title: string
  state: 'open' | 'closed'
  merged: boolean
  draft: boolean
}

/** Up to this number, branches are in the order of their last commits, and else by name: git reads a commit for each. */
const mostSorted = 300
/** Milliseconds: for reading commits, for all comparisons, and that the page waits for comparisons. */
const [readPatience, comparePatience, pagePatience] = [10_000, 10_000, 700]

const summaries = new CommitCache<CommitSummary[]>(4 << 20, (all) =>
  all.reduce((sum, { title, author }) => sum + 2 * (title.length + author.name.length + author.email.length) + 200, 0),
)
const comparisons = new CommitCache<{ ahead_by: number; behind_by: number }>(1 << 20, () => 100)

/** The default branch; undefined if it does not exist. */
export async function findDefaultBranch(db: Queryable, storage: Storage, repo: Repository): Promise<ListedBranch | undefined> {
  const name = repo.default_branch
  const sha = (await findRecordedRefs(db, repo, [`refs/heads/${name}`])).get(`refs/heads/${name}`)
  return sha === undefined ? undefined : (await describe(db, storage, repo, [{ name, sha }], undefined))[0]
}

/** A page of the other branches whose names contain the text, those with the latest commits first. */
export async function listOtherBranches(
  db: Queryable,
  storage: Storage,
  repo: Repository,
  words: string,
  slice: Slice,
  base: string | undefined,
): Promise<Listed<ListedBranch>> {
  const all = await searchBranches(db, repo, words, { limit: mostSorted, offset: 0 })
  if (all.total > mostSorted) {
    const { rows, total } = await searchBranches(db, repo, words, slice)
    return { rows: await describe(db, storage, repo, rows, base), total }
  }
  const commits = await readCommits(storage, repo, all.rows)
  const times = new Map(commits.map(({ sha, committed_at }) => [sha, committed_at.getTime()]))
  const sorted = all.rows.toSorted((a, b) => (times.get(b.sha) ?? 0) - (times.get(a.sha) ?? 0))
  const shown = sorted.slice(slice.offset, slice.offset + slice.limit)
  return { rows: await describe(db, storage, repo, shown, base), total: all.total }
}

async function describe(
  db: Queryable,
  storage: Storage,
  repo: Repository,
  branches: RecordedBranch[],
  base: string | undefined,
): Promise<ListedBranch[]> {
  const names = branches.map(({ name }) => name)
  const commits = new Map((await readCommits(storage, repo, branches)).map((commit) => [commit.sha, commit]))
  const guarded = await protectedAmong(db, repo, names)
  const pulls = new Map((await findPulls(db, repo, names)).map((pull) => [pull.head_ref, pull]))
  const apart = base === undefined ? new Map() : await compareAll(storage, repo, base, branches)
  return branches.map(({ name, sha }) => ({
    ...{ name, sha, commit: commits.get(sha), protected: guarded.has(name) },
    ...{ apart: apart.get(sha), pull: pulls.get(name) },
  }))
}

function readCommits(storage: Storage, repo: Repository, branches: RecordedBranch[]): Promise<CommitSummary[]> {
  const shas = [...new Set(branches.map(({ sha }) => sha))]
  return summaries.get(`${repo.id} ${hash('sha1', shas.join())}`, () =>
    within(readPatience, (signal) => readSummaries(readingOf(storage, repo.id, repo.id, signal), shas)),
  )
}

/** One git process after the other, so that a page does not take the whole machine. Those that are not done in time are left out. */
async function compareAll(storage: Storage, repo: Repository, base: string, branches: RecordedBranch[]) {
  const found = new Map<string, { ahead_by: number; behind_by: number }>()
  const signal = AbortSignal.timeout(comparePatience)
  const all = async () => {
    for (const { sha } of branches) {
      if (signal.aborted) return
      const key = `${repo.id} ${base} ${sha}`
      found.set(sha, await comparisons.get(key, () => countApart(readingOf(storage, repo.id, repo.id, signal), base, sha)))
    }
  }
  await ifSoon(
    all().catch((error) => {
      if (!signal.aborted) throw error
    }),
    pagePatience,
  )
  return found
}

function findPulls(db: Queryable, repo: Repository, names: string[]): Promise<BranchPull[]> {
  return db.rows(sql`
    select distinct on (p.head_ref) p.head_ref, i.number, i.title, i.state, p.merged_at is not null as merged, p.draft
    from pulls p join issues i on i.id = p.issue_id
    where p.head_repo_id = ${repo.id} and p.repo_id = ${repo.id} and p.head_ref = any(${names})
    order by p.head_ref, p.id desc`)
}
