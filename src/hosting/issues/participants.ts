import { type Person, personColumns } from '#identity/accounts.ts'
import { type Queryable, sql } from '#platform/database.ts'

/** The author and everyone who commented on an issue, in the order of accounts; at most `most`. */
export function listParticipants(db: Queryable, issue: { id: number }, most: number): Promise<Person[]> {
  return db.rows(sql`
    select ${personColumns} from accounts a
    where a.id in (select author_id from issues where id = ${issue.id} union select author_id from comments where issue_id = ${issue.id})
    order by a.id limit ${most}`)
}

/** Who opened the newest issues and pull requests of a repository, by login. */
export function listRecentAuthors(db: Queryable, repo: { id: number }, most: number): Promise<Person[]> {
  return db.rows(sql`
    select ${personColumns} from accounts a
    where a.id in (select author_id from issues where repo_id = ${repo.id} order by number desc limit 200)
    order by lower(a.login) limit ${most}`)
}
