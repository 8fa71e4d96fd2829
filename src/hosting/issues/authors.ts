import { type Sql, sql } from '#platform/database.ts'

/** An account as lists of users show it, from the row `a`. */
export const person = sql`json_build_object('id', a.id, 'type', a.type, 'login', a.login, 'site_admin', a.site_admin)`

/** The author of a text; null when the account was deleted. */
export const personOf = (id: Sql) => sql`(select ${person} from accounts a where a.id = ${id})`

/**
 * The user's association with a repository, as everyone may see it: a membership that is not public does not count. Inlined, because a
 * SQL function would be called for every row of a page.
 */
export const associationOf = (id: Sql, repo_id: Sql) => sql`(
  select case
    when home.owner_id = ${id} then 'OWNER'
    when exists (select from memberships joined where joined.org_id = home.owner_id and joined.user_id = ${id} and joined.public)
      then 'MEMBER'
    when exists (select from collaborators helps where helps.repo_id = home.id and helps.user_id = ${id}) then 'COLLABORATOR'
    else 'NONE' end
  from repositories home where home.id = ${repo_id})`
