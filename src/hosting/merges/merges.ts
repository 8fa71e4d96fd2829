import { findMergeBase, readingOf } from '#git/compare.ts'
import { type Merge, merge, withCommits } from '#git/merge.ts'
import { type CommitObject, findRef, readCommit, resolveCommit } from '#git/objects.ts'
import { within } from '#git/run-git.ts'
import type { Storage } from '#git/storage.ts'
import { pushRefs } from '#hosting/pushes/pushes.ts'
import { authorOf } from '#hosting/repositories/contents.ts'
import { mayCopy } from '#hosting/repositories/crossing.ts'
import { loadRepositoryById, type Repository } from '#hosting/repositories/repositories.ts'
import type { Account, Viewer } from '#identity/accounts.ts'
import type { Database } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'

const refused = (message: string) => new Refusal('invalid', message)
const patience = 30_000

const tipOf = async (storage: Storage, repo: Repository, branch: string) =>
  (await findRef(storage, repo.id, `refs/heads/${branch}`))?.sha

const mergeOf = (merger: Account, base: string, head: string, message: string, at: Date): Merge => {
  const who = authorOf(merger)
  return { base, head, method: 'merge', author: who, committer: who, at, message }
}

export interface BranchMerge {
  base: string
  head: string
  commit_message?: string
}

/** Merges a branch, tag or commit into a branch. Undefined if the branch has it already. */
export async function mergeBranch(
  db: Database,
  storage: Storage,
  repo: Repository,
  merger: Account,
  { base, head, commit_message }: BranchMerge,
): Promise<CommitObject | undefined> {
  const [before, from] = [await tipOf(storage, repo, base), await resolveCommit(storage, repo.id, head)]
  if (!before) throw new Refusal('missing', 'Base does not exist')
  if (!from) throw new Refusal('missing', 'Head does not exist')
  const message = commit_message || `Merge ${head} into ${base}`
  const merged = await merge(storage, repo.id, mergeOf(merger, before, from, message, db.now))
  if ('nothing' in merged) return undefined
  if ('conflict' in merged) throw new Refusal('conflict', 'Merge conflict')
  await pushRefs(db, storage, repo, merger, [{ ref: `refs/heads/${base}`, before, after: merged.sha }])
  return readCommit(storage, repo.id, merged.sha)
}

export interface UpstreamMerge {
  message: string
  merge_type: 'merge' | 'fast-forward' | 'none'
  base_branch: string
}

/** Brings the commits of the parent's branch to the same branch of a fork. */
export async function mergeUpstream(
  db: Database,
  storage: Storage,
  viewer: Viewer,
  repo: Repository,
  merger: Account,
  branch: string,
): Promise<UpstreamMerge> {
  const parent = await loadParent(db, viewer, repo)
  const [before, upstream] = [await tipOf(storage, repo, branch), await tipOf(storage, parent, branch)]
  if (!before || !upstream) throw refused(`The branch ${branch} does not exist ${before ? 'upstream' : 'in the fork'}.`)
  if (!(await mayCopy(db, parent.id, repo.id, [merger.id], viewer))) {
    throw refused('The upstream repository is private: its commits may only go into a private fork.')
  }
  const name = `${parent.owner_login}:${branch}`
  const { merge_type, after } = await withCommits(storage, parent.id, repo.id, upstream, async () => {
    const common = await within(patience, (signal) =>
      findMergeBase(readingOf(storage, repo.id, repo.id, signal), before, upstream),
    )
    if (common === upstream) return { merge_type: 'none' as const, after: before }
    if (common === before) return { merge_type: 'fast-forward' as const, after: upstream }
    const message = `Merge branch '${name}' into ${branch}\n`
    const merged = await merge(storage, repo.id, mergeOf(merger, before, upstream, message, db.now))
    if (!('sha' in merged)) throw new Refusal('conflict', `There are merge conflicts between ${name} and the branch of the fork.`)
    return { merge_type: 'merge' as const, after: merged.sha }
  })
  if (after !== before) await pushRefs(db, storage, repo, merger, [{ ref: `refs/heads/${branch}`, before, after }])
  return { message: `${messages[merge_type]} ${name}.`, merge_type, base_branch: name }
}

const messages = {
  merge: 'Successfully fetched and merged from upstream',
  'fast-forward': 'Successfully fetched and fast-forwarded from upstream',
  none: 'This branch is not behind the upstream',
}

/** A parent that is gone and one that the caller cannot see give the same answer. */
async function loadParent(db: Database, viewer: Viewer, { parent_id }: Repository): Promise<Repository> {
  const none = () => refused('The repository has no upstream repository to merge from.')
  if (parent_id === null) throw none()
  return loadRepositoryById(db, viewer, parent_id).catch((error) => {
    throw error instanceof Refusal ? none() : error
  })
}
