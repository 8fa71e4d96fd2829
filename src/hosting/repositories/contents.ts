import type { Storage } from '#hosting/git/storage.ts'
import type { Account, Person, Sight } from '#hosting/people/people.ts'
import { type Database, sql } from '#platform/database.ts'
import { createRepository, type NewRepository, type Repository, reserveId } from './repositories.ts'

/** Who commits are by, when made for a person: an address that reaches nobody, unless they have shown theirs. */
export function authorOf(user: Account) {
  return { name: user.name ?? user.login, email: `${user.id}+${user.login}@users.noreply.localhost` }
}

/**
 * Makes a repository, on disk first: the row appears only when git can serve what it promises.
 * A start that is cut off in between leaves an empty folder that no row names, and no harm.
 */
export async function createOnDisk(
  db: Database,
  storage: Storage,
  sight: Sight,
  owner: Person,
  creator: Account,
  wanted: NewRepository & { auto_init?: boolean },
): Promise<Repository> {
  const id = await reserveId(db)
  const branch = 'main'
  await storage.create(id, branch)
  try {
    const size = wanted.auto_init ? await storage.commit(id, branch, [firstCommit(wanted, creator, db.now)]) : 0
    return await db.transaction(async (transaction) => {
      const repo = await createRepository(transaction, sight, owner, wanted, id)
      if (size) await transaction.query(sql`update repositories set size = ${size} where id = ${id}`)
      return { ...repo, size }
    })
  } catch (error) {
    await storage.erase(id)
    throw error
  }
}

function firstCommit({ name, description }: NewRepository, creator: Account, at: Date) {
  const text = `# ${name}\n${description ? `\n${description}\n` : ''}`
  return { author: authorOf(creator), at, message: 'Initial commit', files: { 'README.md': text } }
}
