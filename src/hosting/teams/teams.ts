import { recordAudit } from '#activity/audit.ts'
import { publishInOrganization } from '#activity/publish-in-organization.ts'
import { lockMembership, type Organization, setMembership } from '#hosting/organizations/organizations.ts'
import { listRepositories, type Repository } from '#hosting/repositories/repositories.ts'
import { endTeamAccess } from '#hosting/repositories/team-access.ts'
import { changingAccess, thisOwner } from '#hosting/repositories/watchers.ts'
import { readPathId } from '#http/listener.ts'
import { permissionsOf } from '#identity/access.ts'
import { type Account, type Person, personColumns, type Viewer } from '#identity/accounts.ts'
import { ifDuplicate, type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import { forbidden, invalid, missing } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

export type TeamRole = 'maintainer' | 'member'
export type Privacy = 'closed' | 'secret'

export interface Team {
  id: number
  org_id: number
  org_login: string
  name: string
  slug: string
  description: string | null
  privacy: Privacy
  /** What a repository gives the team unless another level is named. */
  access: number
  created_at: Date
  updated_at: Date
  members_count: number
  repos_count: number
  /** The viewer's role in the team. */
  role: TeamRole | null
}

const columns = sql`t.*, o.login as org_login, mine.role,
  (select count(*)::integer from team_members where team_id = t.id) as members_count,
  (select count(*)::integer from team_repositories where team_id = t.id) as repos_count`

const source = (viewer_id: number | null) => sql`
  teams t join accounts o on o.id = t.org_id left join team_members mine on mine.team_id = t.id and mine.user_id = ${viewer_id}`

/** A team as part of other objects, from the rows `t` and `o`, its organization. */
export const shownTeam = sql`json_build_object('id', t.id, 'org_login', o.login, 'name', t.name, 'slug', t.slug,
  'description', t.description, 'privacy', t.privacy)`

/** Whether a user may see the team `t`: the same rule as `visible`, for a user id in SQL. */
export const knownTo = (user_id: Sql) => sql`exists (
  select from memberships known where known.org_id = t.org_id and known.user_id = ${user_id}
    and (t.privacy = 'closed' or known.role = 'admin'
      or exists (select from team_members inside where inside.team_id = t.id and inside.user_id = known.user_id)))`

/** Members see the teams of their organization. A secret team is visible to its members and to owners. */
const visible = (org: Organization) => sql`
  ${org.role !== null}::boolean and (t.privacy = 'closed' or mine.role is not null or ${org.role === 'admin'}::boolean)`

/** By its slug or its id, see `readPathId`. */
export async function loadTeam(db: Queryable, viewer_id: number | null, org: Organization, name: string): Promise<Team> {
  const id = readPathId(name)
  const which = id === undefined ? sql`t.slug = lower(${name})` : sql`t.id = ${id}`
  return db.load<Team>(sql`
    select ${columns} from ${source(viewer_id)} where t.org_id = ${org.id} and ${which} and ${visible(org)}`)
}

export function listTeams(db: Queryable, viewer_id: number | null, org: Organization, slice: Slice): Promise<Listed<Team>> {
  return listTeamsBy(db, viewer_id, sql`t.org_id = ${org.id} and ${visible(org)}`, slice)
}

export function listTeamsOf(db: Queryable, user: Account, slice: Slice): Promise<Listed<Team>> {
  return listTeamsBy(db, user.id, sql`mine.role is not null`, slice)
}

function listTeamsBy(db: Queryable, viewer_id: number | null, condition: Sql, slice: Slice): Promise<Listed<Team>> {
  return listed(db, { columns, source: sql`${source(viewer_id)} where ${condition}`, order: sql`t.slug, t.id` }, slice)
}

/** Teams with access to a repository that are visible to the viewer. */
export async function listTeamsWith(
  db: Queryable,
  viewer_id: number | null,
  org: Organization,
  repo: Repository,
  slice: Slice,
): Promise<Listed<Team & { access: number }>> {
  return listed(
    db,
    {
      columns: sql`${columns}, g.access`,
      source: sql`team_repositories g join ${source(viewer_id)} on t.id = g.team_id where g.repo_id = ${repo.id} and ${visible(org)}`,
      order: sql`t.slug`,
    },
    slice,
  )
}

/** A team is managed by owners of the organization and by its maintainers. */
export function checkMaintainer(org: Organization, team: Team) {
  if (org.role !== 'admin' && team.role !== 'maintainer')
    throw forbidden('You must be an owner of this organization or a maintainer of the team.')
}

export interface NewTeam {
  name: string
  description?: string | null
  privacy?: Privacy
  access?: number
}

const message = 'name is already taken in this organization'
export const taken = ifDuplicate(() => invalid({ resource: 'Team', code: 'already_exists', field: 'name', message }))

export function checkSlug(name: string) {
  const slug = name
    .normalize('NFKD')
    .replaceAll(/\p{Mark}+/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  if (!slug || slug.length > 100) {
    throw invalid({
      resource: 'Team',
      code: 'invalid',
      field: 'name',
      message: 'name must contain a letter or a digit, and have at most 100 characters',
    })
  }
  return slug
}

export interface TeamMember extends Person, Pick<Account, 'name' | 'bio'> {
  role: TeamRole
}

export function listTeamMembers(db: Queryable, team: Team, role: string, slice: Slice): Promise<Listed<TeamMember>> {
  const members = sql`team_members m join accounts a on a.id = m.user_id where m.team_id = ${team.id} and (${role} = 'all' or m.role = ${role})`
  const columns = sql`${personColumns}, a.name, a.bio, m.role`
  return listed(db, { columns, source: members, order: sql`lower(a.login)` }, slice)
}

export async function findTeamRole(db: Queryable, team: Team, user: Account): Promise<TeamRole | undefined> {
  const row = await db.first<{ role: TeamRole }>(
    sql`select role from team_members where team_id = ${team.id} and user_id = ${user.id}`,
  )
  return row?.role
}

/** A user who joins a team joins its organization. Only an owner may add a user who is not a member. */
export async function setTeamRole(
  db: Transaction,
  adder: { id: number },
  org: Organization,
  team: Team,
  user: Account,
  role: TeamRole,
) {
  await changingAccess(db, thisOwner(org), reachOf(team, user), () => writeTeamRole(db, adder, org, team, user, role))
}

/** Pairs of the user and each repository of the team. */
const reachOf = (team: Team, user: Account) => sql`
  select ${user.id}::bigint as user_id, repo_id from team_repositories where team_id = ${team.id}`

async function writeTeamRole(
  db: Transaction,
  adder: { id: number },
  org: Organization,
  team: Team,
  user: Account,
  role: TeamRole,
) {
  if (!(await lockMembership(db, org, user))) {
    if (org.role !== 'admin') throw forbidden('Only an owner can add people who are not members of the organization.')
    await setMembership(db, adder, org, user, 'member')
  }
  const former = await findTeamRole(db, team, user)
  const { is_new } = await db.load<{ is_new: boolean }>(sql`
    insert into team_members (team_id, user_id, role, created_at) values (${team.id}, ${user.id}, ${role}, ${db.now})
    on conflict (team_id, user_id) do update set role = excluded.role returning xmax = 0 as is_new`)
  const facts = { team_id: team.id, member_id: user.id }
  if (is_new) await publishInOrganization(db, adder, org, { act: 'team.member_added', ...facts })
  else if (former !== role)
    await recordAudit(db, adder, 'team.change_role', `@${org.login}/${team.slug}: ${user.login} is ${role}`)
}

export async function removeFromTeam(db: Transaction, remover: { id: number }, team: Team, user: Account) {
  const { rowCount } = await changingAccess(db, thisOwner({ id: team.org_id }), reachOf(team, user), () =>
    db.query(sql`delete from team_members where team_id = ${team.id} and user_id = ${user.id}`),
  )
  if (!rowCount) throw missing()
  const facts = { team_id: team.id, member_id: user.id }
  await publishInOrganization(db, remover, { id: team.org_id }, { act: 'team.member_removed', ...facts })
}

/** Repositories of a team that the viewer may see, with the team's access. */
export function listTeamRepositories(
  db: Queryable,
  viewer: Viewer,
  team: Team,
  slice: Slice,
): Promise<Listed<Repository & { team_access: number }>> {
  const access = sql`select access from team_repositories where team_id = ${team.id} and repo_id = r.id`
  return listRepositories(
    db,
    viewer,
    sql`r.id in (select repo_id from team_repositories where team_id = ${team.id})`,
    sql`lower(r.name)`,
    slice,
    { columns: sql`, (${access}) as team_access` },
  )
}

export async function findTeamAccess(db: Queryable, team: Team, repo: Repository): Promise<number | undefined> {
  const row = await db.first<{ access: number }>(sql`
    select access from team_repositories where team_id = ${team.id} and repo_id = ${repo.id}`)
  return row?.access
}

export async function setTeamAccess(db: Transaction, giver: Account, team: Team, repo: Repository, access: number) {
  if (repo.owner_id !== team.org_id) {
    throw invalid({ resource: 'TeamRepository', code: 'custom', message: `${team.org_login} does not own this repository` })
  }
  const org = { id: team.org_id }
  const facts = { team_id: team.id, repo_id: repo.id, access }
  await changingAccess(db, thisOwner(org), membersAt(team, repo), async () => {
    const before = await findTeamAccess(db, team, repo)
    await db.query(sql`
      insert into team_repositories (team_id, repo_id, access) values (${team.id}, ${repo.id}, ${access})
      on conflict (team_id, repo_id) do update set access = excluded.access`)
    if (before === undefined) await publishInOrganization(db, giver, org, { act: 'team.added_to_repository', ...facts })
    else if (before !== access) {
      const { admin, push, pull } = permissionsOf(before)
      const changes = { repository: { permissions: { from: { admin, pull, push } } } }
      await publishInOrganization(db, giver, org, { act: 'team.access_edited', ...facts, changes })
    }
  })
}

const membersAt = (team: Team, repo: Repository) => sql`
  select user_id, ${repo.id}::bigint as repo_id from team_members where team_id = ${team.id}`

export async function removeTeamAccess(db: Transaction, remover: Account, team: Team, repo: Repository) {
  await changingAccess(db, thisOwner({ id: team.org_id }), membersAt(team, repo), () =>
    endTeamAccess(db, remover, { id: team.org_id }, sql`team_id = ${team.id} and repo_id = ${repo.id}`),
  )
}
