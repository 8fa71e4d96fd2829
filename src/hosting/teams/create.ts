import { publishInOrganization } from '#activity/publish-in-organization.ts'
import type { Organization } from '#hosting/organizations/organizations.ts'
import { accessTo } from '#hosting/repositories/visibility.ts'
import { changingAccess, thisOwner } from '#hosting/repositories/watchers.ts'
import type { Account, Viewer } from '#identity/accounts.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import { lowerEach } from '#platform/lower-case.ts'
import { checkSlug, loadTeam, type NewTeam, type Team, taken } from './teams.ts'

export interface TeamContents {
  /** Logins of members of the organization. */
  maintainers?: string[]
  /** Full names of repositories of the organization that the creator administers. */
  repo_names?: string[]
}

/** The creator is a maintainer of the team. */
export async function createTeam(
  db: Transaction,
  viewer: Viewer,
  org: Organization,
  creator: Account,
  wanted: NewTeam & TeamContents,
): Promise<Team> {
  const slug = checkSlug(wanted.name)
  const row = await db
    .load<{ id: number }>(sql`
    insert into teams (org_id, name, slug, description, privacy, access, created_at, updated_at)
    values (${org.id}, ${wanted.name.trim()}, ${slug}, ${wanted.description ?? null}, ${wanted.privacy ?? 'secret'}, ${wanted.access ?? 1},
      ${db.now}, ${db.now})
    returning id`)
    .catch(taken)
  await db.query(sql`
    insert into team_members (team_id, user_id, role, created_at) values (${row.id}, ${creator.id}, 'maintainer', ${db.now})`)
  const maintainers = await addMaintainers(db, org, row, wanted.maintainers ?? [])
  const repos = await addRepositories(db, viewer, org, row, wanted.repo_names ?? [])
  const members = [{ member_id: creator.id }, ...maintainers]
  await publishInOrganization(
    db,
    creator,
    org,
    { act: 'team.created', team_id: row.id },
    ...members.map((facts) => ({ act: 'team.member_added' as const, team_id: row.id, ...facts })),
    ...repos.map((facts) => ({ act: 'team.added_to_repository' as const, team_id: row.id, ...facts })),
  )
  return loadTeam(db, creator.id, org, slug)
}

/** Returns the members that it added. */
async function addMaintainers(db: Transaction, org: Organization, team: { id: number }, maintainers: string[]) {
  if (!maintainers.length) return []
  // The lock makes a concurrent removal from the organization wait, so that it also removes what is added here.
  const members = await db.rows<{ user_id: number; login: string }>(sql`
    select m.user_id, a.login from memberships m join accounts a on a.id = m.user_id
    where m.org_id = ${org.id} and lower(a.login) = any(${lowerEach(maintainers)}) for key share of m`)
  const found = new Set(members.map(({ login }) => login.toLowerCase()))
  if (!maintainers.every((login) => found.has(login.toLowerCase())))
    throw notFound('maintainers', 'must be members of the organization')
  return db.rows<{ member_id: number }>(sql`
    insert into team_members (team_id, user_id, role, created_at)
    select ${team.id}, unnest(${members.map(({ user_id }) => user_id)}::bigint[]), 'maintainer', ${db.now}::timestamptz
    on conflict do nothing returning user_id as member_id`)
}

/** Returns the repositories that it added. */
async function addRepositories(db: Transaction, viewer: Viewer, org: Organization, team: { id: number }, names: string[]) {
  const wanted = new Set(names.map((name) => name.toLowerCase()))
  if (!wanted.size) return []
  const found = sql`repositories r join accounts o on o.id = r.owner_id where r.owner_id = ${org.id} and lower(${org.login} || '/' || r.name) = any(${lowerEach(names)})
    and lower(r.name) = any(${lowerEach(names.map((name) => name.slice(name.indexOf('/') + 1)))}) and ${accessTo(viewer)} = 5`
  const pairs = sql`
    select m.user_id, f.id as repo_id from team_members m, (select r.id from ${found}) f where m.team_id = ${team.id}`
  return changingAccess(db, thisOwner(org), pairs, async () => {
    const added = await db.rows<{ repo_id: number; access: number }>(sql`
      insert into team_repositories (team_id, repo_id, access)
      select ${team.id}, r.id, (select access from teams where id = ${team.id}) from ${found} returning repo_id, access`)
    if (added.length !== wanted.size) throw notFound('repo_names', 'must be repositories of the organization that you administer')
    return added
  })
}

const notFound = (field: string, rule: string) =>
  invalid({ resource: 'Team', code: 'invalid', field, message: `${field} ${rule}` })
