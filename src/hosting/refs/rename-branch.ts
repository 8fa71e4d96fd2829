import { findRef, noObject, type Ref } from '#git/objects.ts'
import { isRefName, isReserved, reserved } from '#git/ref-names.ts'
import type { Storage } from '#git/storage.ts'
import { pushRefs } from '#hosting/pushes/pushes.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { Moved } from '#http/moved.ts'
import type { Account } from '#identity/accounts.ts'
import { type Database, type Queryable, sql } from '#platform/database.ts'
import { invalid, Refusal } from '#platform/errors.ts'
import { loadBranch } from './commits.ts'

const branches = 'refs/heads/'

/** Renames a branch. Its protection and its open pull requests follow, in the transaction that records the push. */
export async function renameBranch(
  db: Database,
  storage: Storage,
  repo: Repository,
  renamer: Account,
  from: string,
  to: string,
): Promise<Ref> {
  const { sha, type } = await loadBranch(storage, repo, from)
  const name = branches + to
  if (!isRefName(name)) throw refused(`${to} is not a valid name of a branch.`)
  if (isReserved(name)) throw refused(reserved)
  if (await findRef(storage, repo.id, name)) throw refused(`The branch ${to} already exists.`)
  const renames = { from, to }
  const moves = [
    // Created first, so that the commits are not new to the repository.
    { ref: name, before: noObject, after: sha, renames },
    { ref: branches + from, before: sha, after: noObject, renames },
  ]
  await pushRefs(db, storage, repo, renamer, moves).catch((error) => {
    throw error instanceof Refusal && error.reason === 'conflict'
      ? refused('The branch has moved meanwhile, or its new name is a folder of another branch. Look again, and try again.')
      : error
  })
  if (from === repo.default_branch) await storage.pointHead(repo.id, to)
  return { name, sha, type }
}

const refused = (message: string) => invalid({ resource: 'Branch', code: 'invalid', field: 'new_name', message })

/** A branch; a former name redirects to it. */
export async function findBranch(db: Queryable, storage: Storage, repo: Repository, name: string): Promise<Ref> {
  const branch = await findRef(storage, repo.id, branches + name)
  if (branch) return branch
  const moved = await db.first<{ branch: string }>(sql`
    select branch from branch_redirects where repo_id = ${repo.id} and name = ${name}`)
  if (moved) throw new Moved({ id: repo.id, owner: repo.owner_login, name: repo.name, rest: moved.branch })
  return loadBranch(storage, repo, name)
}
