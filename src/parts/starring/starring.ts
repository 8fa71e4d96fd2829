import { record } from '#activity/log.ts'
import type { Account } from '#hosting/people/people.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { sql, type Transaction } from '#platform/database.ts'

/** Only the first star is news; starring again changes nothing. */
export async function star(db: Transaction, user: Account, repo: Repository) {
  const { rowCount } = await db.query(sql`
    insert into stars (user_id, repo_id, starred_at) values (${user.id}, ${repo.id}, ${db.now}) on conflict do nothing`)
  if (rowCount) await record(db, user, repo, { type: 'WatchEvent', payload: { action: 'started' } })
}
