import type { Repository } from '#hosting/repositories/repositories.ts'
import { type Person, personColumns } from '#identity/accounts.ts'
import { empty, type Queryable, type Sql, sql } from '#platform/database.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { mayTriage } from './rights.ts'

/** Only users with access by name can be assigned. */
const assignable = sql`a.type = 'User' and a.suspended_at is null and access_by_name(a.id, r) > 0`

/**
 * A viewer without triage access sees only users whose role is public: the owner, and members of the organization whose membership is
 * public.
 */
function publiclyKnown(repo: Repository): Sql {
  if (mayTriage(repo)) return empty
  return sql`and (a.id = r.owner_id
    or exists (select from memberships m where m.org_id = r.owner_id and m.user_id = a.id and m.public))`
}

const named = sql`(
  select r.owner_id as user_id union select c.user_id from collaborators c where c.repo_id = r.id
  union select m.user_id from memberships m where m.org_id = r.owner_id
  union select m.user_id from team_members m join team_repositories t using (team_id) where t.repo_id = r.id)`

export function listAssignable(db: Queryable, repo: Repository, slice: Slice): Promise<Listed<Person>> {
  const source = sql`repositories r cross join lateral ${named} who join accounts a on a.id = who.user_id
    where r.id = ${repo.id} and ${assignable} ${publiclyKnown(repo)}`
  return listed(db, { columns: personColumns, source, order: sql`lower(a.login)` }, slice)
}

export async function isAssignable(db: Queryable, repo: Repository, login: string): Promise<boolean> {
  const { rowCount } = await db.query(sql`
    select from repositories r, accounts a where r.id = ${repo.id} and lower(a.login) = lower(${login}) and ${assignable} ${publiclyKnown(repo)}`)
  return rowCount === 1
}

/** Each login with its user's id, or null when the user cannot be assigned. Current assignees of `issue` can be assigned. */
export function findAssignable(
  db: Queryable,
  repo: Repository,
  logins: string[],
  issue?: { id: number },
): Promise<{ login: string; id: number | null }[]> {
  return db.rows(sql`
    select n.login, a.id from unnest(${logins}::text[]) with ordinality n (login, place)
      cross join repositories r left join accounts a on lower(a.login) = lower(n.login) and ((${assignable})
        or exists (select from issue_assignees s where s.issue_id = ${issue?.id ?? null} and s.user_id = a.id))
    where r.id = ${repo.id} order by n.place`)
}
