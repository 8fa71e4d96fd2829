import type { Repository } from '#hosting/repositories/repositories.ts'
import { checkAccess, checkWritable, levelOf } from '#identity/access.ts'
import type { Person, Viewer } from '#identity/accounts.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { forbidden, Refusal } from '#platform/errors.ts'

export function checkEnabled({ has_issues }: Pick<Repository, 'has_issues'>) {
  if (!has_issues) throw new Refusal('gone', 'Issues are disabled for this repo')
}

export function checkChangeable(repo: Repository) {
  checkEnabled(repo)
  checkWritable(repo)
}

/** A fine-grained token must include the repository, although it can read every public one. */
export async function checkTokenIncludes(db: Queryable, { token_id = null }: Viewer, repo: { id: number }) {
  if (token_id === null) return
  const { rowCount } = await db.query(
    sql`select from repositories r where r.id = ${repo.id} and token_reaches(${token_id}::bigint, r)`,
  )
  if (!rowCount) throw forbidden('Resource not accessible by personal access token')
}

/** A text can be edited by its author and by users with push access. */
export function checkMayEdit(repo: Repository, viewer: { id: number }, author: Person | null) {
  if (author?.id !== viewer.id) checkAccess(repo.access, 'push')
}

/** The same as a condition, for pages; nothing of an archived repository can be edited. */
export const mayEdit = (repo: Repository, viewer: { id: number } | null, author: Person | null) =>
  viewer !== null && !repo.archived && (author?.id === viewer.id || mayPush(repo))

/** Labels, milestones and assignees need triage access. */
export const mayTriage = ({ access }: Repository) => access >= levelOf('triage')

export const mayPush = ({ access }: Repository) => access >= levelOf('push')
