import type { Viewer } from '#identity/accounts.ts'
import { type Sql, sql } from '#platform/database.ts'

/** Whether the owner `o` is a suspended organization. */
export const ownerSuspended = sql`(o.type = 'Organization' and o.suspended_at is not null)`

/**
 * The viewer's level of access to the repository `r` with the owner `o`, limited by their token: like `access_of`, within the statement.
 * In a suspended organization it is reading at most. The function costs 50 µs a call, because PostgreSQL starts its queries anew each time.
 */
export function accessTo(viewer: Viewer): Sql {
  return sql`least(${levelOf(viewer)}, case when ${ownerSuspended} then 1 else 5 end)`
}

function levelOf({ viewer_id, token_id = null, installation_access = null }: Viewer): Sql {
  const open = sql`case when r.private then 0 else 1 end`
  if (viewer_id === null) return open
  if (token_id !== null && installation_access !== null) {
    return sql`case when ${tokenReaches(token_id, sql`r`)} and owner_reaches(r) then ${installation_access}::integer else ${open} end`
  }
  const level = sql`case when r.owner_id = ${viewer_id} then 5 else greatest(${open},
    (select case m.role when 'admin' then 5 else o.member_access end from memberships m where m.org_id = r.owner_id and m.user_id = ${viewer_id}),
    (select max(t.access) from team_repositories t join team_members m using (team_id) where t.repo_id = r.id and m.user_id = ${viewer_id}),
    (select c.access from collaborators c where c.repo_id = r.id and c.user_id = ${viewer_id})) end`
  const followed = sql`case when ${followsSource(viewer_id, sql`r`)} then ${level} else ${open} end`
  return token_id === null ? followed : sql`case when ${tokenReaches(token_id, sql`r`)} then ${followed} else ${open} end`
}

/** Access to a fork of a private repository needs access to its parent. The function is called for such forks only. */
const followsSource = (viewer_id: number | null, r: Sql) =>
  sql`(not ${r}.forked_from_private or reaches_source(${viewer_id}, ${r}.parent_id))`

/** The one rule of visibility, as a condition for many rows. */
export function visible(viewer: Viewer): Sql {
  return viewer.viewer_id === null || !viewer.sees_private
    ? sql`not r.private`
    : sql`(not r.private or ${hasAccessByName(viewer)})`
}

/**
 * Whether the viewer has access by name to the repository `r` (or another alias): like `access_by_name`, as a condition for many rows. The sets it
 * asks are small and read once a statement; the function is called for every row, at 50 µs each.
 */
export function hasAccessByName({ viewer_id, token_id = null, installation_access = null }: Viewer, r: Sql = sql`r`): Sql {
  if (token_id !== null && installation_access !== null) return sql`(${tokenReaches(token_id, r)} and owner_reaches(${r}))`
  const named = sql`(${r}.owner_id = ${viewer_id}
    or ${r}.owner_id in (select m.org_id from memberships m join accounts org on org.id = m.org_id
      where m.user_id = ${viewer_id} and (m.role = 'admin' or org.member_access > 0))
    or ${r}.id in (select t.repo_id from team_repositories t join team_members m using (team_id) where m.user_id = ${viewer_id})
    or ${r}.id in (select c.repo_id from collaborators c where c.user_id = ${viewer_id})) and ${followsSource(viewer_id, r)}`
  return token_id === null ? sql`(${named})` : sql`(${named} and ${tokenReaches(token_id, r)})`
}

/** Like `token_reaches`, within the statement. */
const tokenReaches = (token_id: number, r: Sql) => sql`exists (select from tokens k where k.id = ${token_id}
  and (k.kind = 'app_user' or (k.resource_owner_id = ${r}.owner_id
    and (k.all_repositories or exists (select from token_repositories l where l.token_id = k.id and l.repo_id = ${r}.id))))
  and (k.kind = 'fine_grained' or exists (
    select from installations i where (i.id = k.installation_id or i.app_id = k.app_id) and i.account_id = ${r}.owner_id and i.suspended_at is null
      and (i.all_repositories or exists (
        select from installation_repositories l where l.installation_id = i.id and l.repo_id = ${r}.id)))))`
