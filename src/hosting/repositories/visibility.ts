import type { Viewer } from '#identity/accounts.ts'
import { type Sql, sql } from '#platform/database.ts'

/**
 * Whether the viewer has access by name to the repository `r` (or another alias): like `access_by_name`, as a condition for many rows. The sets it
 * asks are small and read once a statement; the function is called for every row, at 50 µs each.
 */
export function hasAccessByName({ viewer_id, token_id = null }: Viewer, r: Sql = sql`r`): Sql {
  const named = sql`(${r}.owner_id = ${viewer_id}
    or ${r}.owner_id in (select m.org_id from memberships m join accounts org on org.id = m.org_id
      where m.user_id = ${viewer_id} and (m.role = 'admin' or org.member_access > 0))
    or ${r}.id in (select t.repo_id from team_repositories t join team_members m using (team_id) where m.user_id = ${viewer_id})
    or ${r}.id in (select c.repo_id from collaborators c where c.user_id = ${viewer_id}))`
  return token_id === null ? named : sql`(${named} and token_reaches(${token_id}, ${r}))`
}
