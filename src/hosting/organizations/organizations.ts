import { recordAudit } from '#activity/audit.ts'
import { publishInOrganization } from '#activity/publish-in-organization.ts'
import { renameAccount } from '#hosting/people/people.ts'
import { changingAccess, thisOwner } from '#hosting/repositories/watchers.ts'
import { readPathId } from '#http/listener.ts'
import { permissionOf } from '#identity/access.ts'
import { type Account, accountColumns, type Person, personColumns } from '#identity/accounts.ts'
import { empty, type Queryable, sql, type Transaction } from '#platform/database.ts'
import { forbidden, invalid, missing } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

export type OrganizationRole = 'admin' | 'member'

/** An organization with the viewer's role. */
export interface Organization extends Account {
  /** The viewer's role; null for a non-member. */
  role: OrganizationRole | null
}

export interface Membership {
  org: Account
  user: Person
  role: OrganizationRole
  /** Pending: the user is invited. Active if left out. */
  state?: 'active' | 'pending'
}

/** By its login, its id, or the id of one of its teams, see `readPathId`. */
export async function loadOrganization(db: Queryable, viewer_id: number | null, name: string): Promise<Organization> {
  const [id, team_id] = [readPathId(name), readPathId(name, 'team')]
  const which =
    team_id !== undefined
      ? sql`a.id = (select org_id from teams where id = ${team_id})`
      : id !== undefined
        ? sql`a.id = ${id}`
        : sql`lower(a.login) = lower(${name})`
  return db.load<Organization>(sql`
    select ${accountColumns}, m.role from accounts a left join memberships m on m.org_id = a.id and m.user_id = ${viewer_id}
    where ${which} and a.type = 'Organization'`)
}

/** In the order of their ids, after the id `since`. */
export function listAllOrganizations(db: Queryable, since: number, limit: number): Promise<Account[]> {
  return db.rows(sql`
    select ${accountColumns} from accounts a where a.id > ${since} and a.type = 'Organization' order by a.id limit ${limit}`)
}

/** How the caller's token limits what is visible. */
interface Means {
  may(scope: string): boolean
  token: { kind: string; resource_owner_id: number | null } | null
}

/** A token without the scope, or a fine-grained token for another account, sees an organization like a non-member. */
export function asSeenBy({ may, token }: Means, org: Organization): Organization {
  const elsewhere = token?.kind === 'fine_grained' && token.resource_owner_id !== org.id
  return may('read:org') && !elsewhere ? org : { ...org, role: null }
}

/** Non-members get the same answer as for something that does not exist. */
export function checkMember(org: Organization) {
  if (!org.role) throw missing()
}

export function checkOwner(org: Organization) {
  checkMember(org)
  if (org.role !== 'admin') throw forbidden('You must be an owner of this organization.')
}

/** Organizations of a user, ordered by name. */
export function listOrganizations(
  db: Queryable,
  user: Account,
  slice: Slice,
  only_public: boolean,
): Promise<Listed<Account & { role: OrganizationRole }>> {
  const source = sql`memberships m join accounts a on a.id = m.org_id where m.user_id = ${user.id} and (m.public or not ${only_public}::boolean)`
  return listed(db, { columns: sql`${accountColumns}, m.role`, source, order: sql`lower(a.login)` }, slice)
}

export interface Member extends Person, Pick<Account, 'name' | 'bio'> {
  role: OrganizationRole
  /** Everyone sees the membership. */
  public: boolean
}

/** Non-members see public members only. `find` is a part of the login or the name. */
export function listMembers(db: Queryable, org: Organization, role: string, slice: Slice, find = ''): Promise<Listed<Member>> {
  const named = find ? sql`and position(lower(${find}) in lower(a.login || ' ' || coalesce(a.name, ''))) > 0` : empty
  const source = sql`memberships m join accounts a on a.id = m.user_id where m.org_id = ${org.id}
    and (m.public or ${org.role !== null}::boolean) and (${role} = 'all' or m.role = ${role}) ${named}`
  return listed(
    db,
    { columns: sql`${personColumns}, a.name, a.bio, m.role, m.public`, source, order: sql`lower(a.login)` },
    slice,
  )
}

export async function findMembership(db: Queryable, org: Account, user: Account): Promise<Membership | undefined> {
  const found = await db.first<{ role: OrganizationRole }>(sql`
    select role from memberships where org_id = ${org.id} and user_id = ${user.id}`)
  return found && { org, user, role: found.role }
}

/** An owner adds users without an invitation, because a self-hosted server may not send e-mail. */
export async function setMembership(
  db: Transaction,
  adder: { id: number },
  org: Account,
  user: Account,
  role: OrganizationRole,
): Promise<Membership> {
  if (user.type !== 'User') throw invalid({ resource: 'Membership', code: 'custom', message: 'Only people can be members' })
  const everywhere = sql`select ${user.id}::bigint as user_id, id as repo_id from repositories where owner_id = ${org.id}`
  await changingAccess(db, thisOwner(org), everywhere, async () => {
    if (role === 'member') await checkNotLastOwner(db, org, user)
    const former = await findMembership(db, org, user)
    const { is_new } = await db.load<{ is_new: boolean }>(sql`
      insert into memberships (org_id, user_id, role, created_at) values (${org.id}, ${user.id}, ${role}, ${db.now})
      on conflict (org_id, user_id) do update set role = excluded.role returning xmax = 0 as is_new`)
    await db.query(sql`delete from organization_invitations where org_id = ${org.id} and invitee_id = ${user.id}`)
    if (is_new) await publishInOrganization(db, adder, org, { act: 'organization.member_added', member_id: user.id, role })
    else if (former?.role !== role) await recordAudit(db, adder, 'org.change_role', `${org.login}: ${user.login} is ${role}`)
  })
  return { org, user, role }
}

export async function renameOrganization(
  db: Transaction,
  renamer: { id: number },
  org: Account,
  login: string,
): Promise<Account> {
  const renamed = await renameAccount(db, org, login)
  const changes = { login: { from: org.login } }
  if (renamed.login !== org.login) await publishInOrganization(db, renamer, org, { act: 'organization.renamed', changes })
  return renamed
}

/** Locks the membership until the transaction ends, so that a concurrent removal also removes what this transaction adds. */
export async function lockMembership(db: Transaction, org: Account, user: Account): Promise<boolean> {
  const { rowCount } = await db.query(sql`
    select from memberships where org_id = ${org.id} and user_id = ${user.id} for key share`)
  return rowCount === 1
}

/** The access of every member to all repositories, see access.ts; 0 is none. */
export async function setMemberAccess(db: Transaction, editor: { id: number }, org: Account, access: number) {
  // Members who gain push access may start to watch any repository. Members who lose access matter only where they watch.
  const gaining = sql`
    select m.user_id, r.id as repo_id from accounts o join memberships m on m.org_id = o.id join repositories r on r.owner_id = o.id
    where o.id = ${org.id} and m.role = 'member' and ${access} >= 3 and o.member_access < 3`
  const losing = sql`
    select s.user_id, s.repo_id from memberships m join repositories r on r.owner_id = m.org_id
      join subscriptions s on s.repo_id = r.id and s.user_id = m.user_id
    where m.org_id = ${org.id} and r.private and ${access} = 0`
  await changingAccess(db, thisOwner(org), sql`${gaining} union all ${losing}`, () =>
    db.query(sql`update accounts set member_access = ${access} where id = ${org.id}`),
  )
  await recordAudit(db, editor, 'org.change_default_permission', `${org.login}: ${permissionOf(access)}`)
}

export async function setPrivateForking(db: Transaction, editor: { id: number }, org: Account, allowed: boolean) {
  if (allowed === org.members_can_fork_private_repositories) return
  await recordAudit(db, editor, 'org.change_forking', `${org.login}: ${allowed ? 'on' : 'off'}`)
  await db.query(sql`update accounts set members_can_fork_private_repositories = ${allowed} where id = ${org.id}`)
}

/** A user who leaves an organization also leaves its teams, and loses access by name to its repositories. */
export async function removeMembership(db: Transaction, remover: { id: number }, org: Account, user: Account) {
  // Invitations first: accepting one locks it before it locks access.
  await db.query(sql`
    delete from invitations using repositories r where r.id = repo_id and r.owner_id = ${org.id} and invitee_id = ${user.id}`)
  const watching = sql`
    select user_id, repo_id from subscriptions join repositories r on r.id = repo_id
    where user_id = ${user.id} and r.owner_id = ${org.id}`
  await changingAccess(db, thisOwner(org), watching, () => endMembership(db, remover, org, user))
}

export async function endMembership(
  db: Transaction,
  remover: { id: number },
  org: Account,
  user: Account,
  { keeps_repositories = false } = {},
) {
  await checkNotLastOwner(db, org, user)
  const ended = await db.load<{ member_id: number; role: OrganizationRole }>(sql`
    delete from memberships where org_id = ${org.id} and user_id = ${user.id} returning user_id as member_id, role`)
  const teams = await db.rows<{ team_id: number; member_id: number }>(sql`
    delete from team_members using teams where teams.id = team_members.team_id and teams.org_id = ${org.id} and user_id = ${user.id}
    returning team_id, user_id as member_id`)
  const repos = await db.rows<{ repo_id: number; member_id: number }>(sql`
    delete from collaborators using repositories r
    where r.id = repo_id and r.owner_id = ${org.id} and user_id = ${user.id} and not ${keeps_repositories}::boolean
    returning repo_id, user_id as member_id`)
  await publishInOrganization(
    db,
    remover,
    org,
    ...repos.map((facts) => ({ act: 'member.removed_with_membership' as const, ...facts })),
    ...teams.map((facts) => ({ act: 'team.member_removed' as const, ...facts })),
    { act: 'organization.member_removed', ...ended },
  )
}

async function checkNotLastOwner(db: Transaction, org: Account, user: Account) {
  // The lock makes concurrent removals of owners take turns.
  const owners = await db.rows<{ user_id: number }>(sql`
    select user_id from memberships where org_id = ${org.id} and role = 'admin' order by user_id for update`)
  if (owners.length === 1 && owners[0]?.user_id === user.id) {
    throw forbidden(`${user.login} is the last owner of ${org.login}: make someone else an owner first.`)
  }
}

export async function setMembershipPublic(db: Transaction, org: Account, user: Account, shown: boolean) {
  const { rowCount } = await db.query(sql`
    update memberships set public = ${shown} where org_id = ${org.id} and user_id = ${user.id}`)
  if (!rowCount) throw missing()
}
