import { type Sql, sql } from '#platform/database.ts'

/** An account as lists of people show it, from the row `a`. */
export const person = sql`json_build_object('id', a.id, 'type', a.type, 'login', a.login, 'site_admin', a.site_admin)`

/** Who wrote something; null when their account is gone. */
export const personOf = (id: Sql) => sql`(select ${person} from accounts a where a.id = ${id})`

/**
 * What somebody is to a repository, as everyone may know it: a membership that is not public is nobody's business. Not a
 * function of the database: that would be called anew for every row of a page.
 */
export const associationOf = (id: Sql, repo_id: Sql) => sql`(
  select case
    when home.owner_id = ${id} then 'OWNER'
    when exists (select from memberships joined where joined.org_id = home.owner_id and joined.user_id = ${id} and joined.public)
      then 'MEMBER'
    when exists (select from collaborators helps where helps.repo_id = home.id and helps.user_id = ${id}) then 'COLLABORATOR'
    else 'NONE' end
  from repositories home where home.id = ${repo_id})`
