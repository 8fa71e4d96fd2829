import type { Person, Sight } from '#hosting/people/people.ts'
import { checkAccess, checkWritable, levelOf } from '#hosting/repositories/access.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { forbidden, Refusal } from '#platform/errors.ts'

export function checkEnabled({ has_issues }: Pick<Repository, 'has_issues'>) {
  if (!has_issues) throw new Refusal('gone', 'Issues are disabled for this repo')
}

export function checkChangeable(repo: Repository) {
  checkEnabled(repo)
  checkWritable(repo)
}

export async function checkMayTalk(db: Queryable, sight: Sight, repo: Repository) {
  checkEnabled(repo)
  await checkMayTalkOfCode(db, sight, repo)
}

/**
 * Whoever sees a repository may talk there, of its code also when it has no issues; but a fine-grained token only where it was made for,
 * and a public repository is seen by all of them.
 */
export async function checkMayTalkOfCode(db: Queryable, { token_id = null }: Sight, repo: Repository) {
  checkWritable(repo)
  if (token_id === null) return
  const { rowCount } = await db.query(
    sql`select from repositories r where r.id = ${repo.id} and token_reaches(${token_id}::bigint, r)`,
  )
  if (!rowCount) throw forbidden('Resource not accessible by personal access token')
}

/** What somebody wrote is changed by them, and by those who may push. */
export function checkMayEdit(repo: Repository, viewer: { id: number }, author: Person | null) {
  if (author?.id !== viewer.id) checkAccess(repo.access, 'push')
}

/** Labels, milestones and assignees are for those who sort issues. */
export const maySort = ({ access }: Repository) => access >= levelOf('triage')

export const mayPush = ({ access }: Repository) => access >= levelOf('push')
