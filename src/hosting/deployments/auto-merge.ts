import { merge } from '#git/merge.ts'
import { findRef } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import { pushRefs } from '#hosting/pushes/pushes.ts'
import { authorOf } from '#hosting/repositories/contents.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account } from '#identity/accounts.ts'
import type { Database } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'

/** Merges the default branch into the branch that is to be deployed. Undefined if it is no branch: then there is nothing to move. */
export async function autoMerge(db: Database, storage: Storage, repo: Repository, user: Account, branch: string) {
  const ref = `refs/heads/${branch}`
  const [tip, base] = await Promise.all([
    findRef(storage, repo.id, ref),
    findRef(storage, repo.id, `refs/heads/${repo.default_branch}`),
  ])
  if (!tip || !base) return undefined
  const who = authorOf(user)
  const message = `Merge branch '${repo.default_branch}' into ${branch}\n`
  const asked = { base: tip.sha, head: base.sha, method: 'merge', author: who, committer: who, at: db.now, message } as const
  const merged = await merge(storage, repo.id, asked)
  if ('nothing' in merged) return undefined
  if ('conflict' in merged) throw new Refusal('conflict', `Conflict merging ${repo.default_branch} into ${branch}.`)
  await pushRefs(db, storage, repo, user, [{ ref, before: tip.sha, after: merged.sha }])
  return { message: `Auto-merged ${repo.default_branch} into ${branch} on deployment.` }
}
