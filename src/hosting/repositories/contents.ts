import type { Act } from '#activity/acts.ts'
import { publish } from '#activity/publish.ts'
import { noObject } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import { readDelivery } from '#hosting/pushes/pushed-commits.ts'
import type { Account, Person, Viewer } from '#identity/accounts.ts'
import { type Database, sql } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import { DatabaseUnavailable } from '#platform/unavailable.ts'
import { type InitialOptions, readInitialFiles } from './initial-files.ts'
import { checkName, createRepository, type NewRepository, type Repository, reserveId } from './repositories.ts'

/** The author of commits that Belfry makes for a user: a no-reply address, unless the user's address is public. */
export function authorOf(user: Account) {
  const name = user.name?.replaceAll(/[\p{Cc}<>]/gu, '').trim() || user.login
  return { name, email: `${user.id}+${user.login}@users.noreply.localhost` }
}

/**
 * Creates a repository, on disk first: the row appears only when git can serve it.
 * A process that is killed in between leaves a folder without a row, which a job removes (sweeping.ts).
 */
export async function createOnDisk(
  db: Database,
  storage: Storage,
  viewer: Viewer,
  owner: Person,
  creator: Account,
  asked: NewRepository & InitialOptions,
): Promise<Repository> {
  const wanted = { ...asked, name: checkName(asked.name) }
  const author = authorOf(creator)
  const initial = await readInitialFiles(wanted, owner.type === 'Organization' ? owner.login : author.name, db.now)
  const id = await reserveId(db)
  const license = initial?.license ?? null
  const branch = 'main'
  await storage.create(id, branch)
  try {
    const first =
      initial && (await storage.commit(id, branch, [{ author, at: db.now, message: 'Initial commit', files: initial.files }]))
    // Only an organization's hooks can be there before the repository is.
    const heard = first && owner.type === 'Organization'
    const delivery =
      heard && (await readDelivery(db, storage, id, { ref: `refs/heads/${branch}`, before: noObject, after: first.head }))
    return await db.transaction(async (transaction) => {
      const repo = await createRepository(transaction, viewer, owner, wanted, id)
      const facts = { master_branch: branch, description: repo.description, in_bulk: false }
      const created: Act[] = [{ act: 'repo.created', ref: null, ref_type: 'repository', ...facts }]
      if (first) {
        await transaction.query(
          sql`insert into refs (repo_id, name, sha) values (${id}, ${`refs/heads/${branch}`}, ${first.head})`,
        )
        await transaction.query(sql`update repositories set size = ${first.size}, license = ${license} where id = ${id}`)
        created.push({ act: 'branch.created', ref: branch, ref_type: 'branch', ...facts })
        if (delivery) created.push({ act: 'push.without_commits', delivery })
      }
      await publish(transaction, creator, repo, ...created)
      return { ...repo, size: first?.size ?? repo.size, license }
    })
  } catch (error) {
    // The commit may have taken place, or may still do so. If it does not, a job removes the folder.
    if (!(error instanceof DatabaseUnavailable)) await storage.erase(id)
    throw error
  }
}

/** The default branch must exist. */
export async function checkBranch(storage: Storage, repo: Repository, branch: string) {
  if (await storage.hasBranch(repo.id, branch)) return
  const message = `The branch ${branch} was not found. Push it first.`
  throw invalid({ resource: 'Repository', code: 'invalid', field: 'default_branch', message })
}
