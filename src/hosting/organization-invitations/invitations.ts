import { publishInOrganization } from '#activity/publish-in-organization.ts'
import { type Membership, type OrganizationRole, setMembership } from '#hosting/organizations/organizations.ts'
import { changingAccess, thisOwner } from '#hosting/repositories/watchers.ts'
import type { ShownTeam } from '#hosting/teams/json.ts'
import { shownTeam } from '#hosting/teams/teams.ts'
import { type Account, accountColumns, type Person } from '#identity/accounts.ts'
import { type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

/** An invitation to join an organization. */
export interface OrganizationInvitation {
  id: number
  org_login: string
  /** Null for an invitation of an e-mail address. */
  login: string | null
  email: string | null
  role: OrganizationRole
  created_at: Date
  /** When it can no longer be accepted. */
  expires_at: Date
  inviter: Person
  team_count: number
}

/** How long an invitation can be accepted. */
const goodFor = sql`interval '7 days'`

const columns = sql`i.id, o.login as org_login, a.login, i.email, i.role, i.created_at, i.created_at + ${goodFor} as expires_at,
  json_build_object('id', b.id, 'type', b.type, 'login', b.login, 'site_admin', b.site_admin) as inviter,
  (select count(*) from organization_invitation_teams t where t.invitation_id = i.id) as team_count`
const source = sql`organization_invitations i join accounts o on o.id = i.org_id join accounts b on b.id = i.inviter_id
  left join accounts a on a.id = i.invitee_id`

/** A condition: the invitation `i` can still be accepted. */
const isOpen = (db: Queryable) => sql`i.created_at > ${db.now}::timestamptz - ${goodFor}`

export const loadInvitations = (db: Queryable, ids: number[]) =>
  db.rows<OrganizationInvitation>(sql`select ${columns} from ${source} where i.id = any(${ids})`)

function list(db: Queryable, condition: Sql, slice: Slice): Promise<Listed<OrganizationInvitation>> {
  return listed(db, { columns, source: sql`${source} where ${condition}`, order: sql`i.id` }, slice)
}

export const listPending = (db: Queryable, org: { id: number }, role: string, slice: Slice) =>
  list(db, sql`i.org_id = ${org.id} and ${isOpen(db)} and (${role} = 'all' or i.role = ${role})`, slice)

export const listFailed = (db: Queryable, org: { id: number }, slice: Slice) =>
  list(db, sql`i.org_id = ${org.id} and not ${isOpen(db)}`, slice)

export const listPendingOfTeam = (db: Queryable, team: { id: number }, slice: Slice) =>
  list(
    db,
    sql`${isOpen(db)} and i.id in (select t.invitation_id from organization_invitation_teams t where t.team_id = ${team.id})`,
    slice,
  )

export async function listTeamsOfInvitation(
  db: Queryable,
  org: { id: number },
  id: number,
  slice: Slice,
): Promise<Listed<ShownTeam>> {
  await db.load(sql`select from organization_invitations where id = ${id} and org_id = ${org.id}`)
  const teams = sql`organization_invitation_teams j join teams t on t.id = j.team_id join accounts o on o.id = t.org_id where j.invitation_id = ${id}`
  const { rows, total } = await listed<{ team: ShownTeam }>(
    db,
    { columns: sql`${shownTeam} as team`, source: teams, order: sql`t.slug` },
    slice,
  )
  return { rows: rows.map(({ team }) => team), total }
}

export interface NewInvitation {
  invitee_id?: number | undefined
  email?: string | undefined
  role: OrganizationRole
  team_ids: number[]
}

const refused = (field: string, message: string, code: 'invalid' | 'already_exists' = 'invalid') =>
  invalid({ resource: 'OrganizationInvitation', code, field, message })

/** Invites a user, or the user who has an e-mail address, which does not reveal whether there is one. */
export async function invite(db: Transaction, inviter: Account, org: Account, wanted: NewInvitation) {
  const { invitee_id = null, email = null, role, team_ids } = wanted
  if ((invitee_id === null) === (email === null)) throw refused('invitee_id', 'Send either invitee_id or email.')
  if (email !== null && !/^[^\s@]+@[^\s@]+$/.test(email)) throw refused('email', `${email} is not an e-mail address`)
  if (invitee_id !== null) await checkInvitable(db, org, invitee_id)
  const same = sql`org_id = ${org.id} and (invitee_id = ${invitee_id} or lower(email) = lower(${email}))`
  await db.query(sql`delete from organization_invitations i where ${same} and not ${isOpen(db)}`)
  const made = await db.first<{ id: number }>(sql`
    insert into organization_invitations (org_id, invitee_id, email, role, inviter_id, created_at)
    values (${org.id}, ${invitee_id}, ${email}, ${role}, ${inviter.id}, ${db.now}) on conflict do nothing returning id`)
  if (!made) throw refused(invitee_id === null ? 'email' : 'invitee_id', 'There is an invitation already.', 'already_exists')
  const { rowCount } = await db.query(sql`
    insert into organization_invitation_teams (invitation_id, team_id)
    select ${made.id}, t.id from teams t where t.org_id = ${org.id} and t.id = any(${team_ids}::bigint[])`)
  if (rowCount !== new Set(team_ids).size) throw refused('team_ids', `${org.login} does not have all of these teams`)
  if (invitee_id !== null) {
    const facts = { organization_invitation_id: made.id, member_id: invitee_id }
    await publishInOrganization(db, inviter, org, { act: 'organization.member_invited', ...facts })
  }
  const [invitation] = await loadInvitations(db, [made.id])
  if (!invitation) throw missing()
  return invitation
}

async function checkInvitable(db: Transaction, org: Account, id: number) {
  const user = await db.first<{ is_member: boolean }>(sql`
    select exists (select from memberships m where m.org_id = ${org.id} and m.user_id = a.id) as is_member
    from accounts a where a.id = ${id} and a.type = 'User'`)
  if (!user) throw refused('invitee_id', `There is no user with the id ${id}`)
  if (user.is_member) throw refused('invitee_id', 'The user is a member already.', 'already_exists')
}

export async function cancelInvitation(db: Transaction, org: { id: number }, id: number) {
  const { rowCount } = await db.query(sql`delete from organization_invitations where id = ${id} and org_id = ${org.id}`)
  if (!rowCount) throw missing()
}

/** A condition: the invitation `i` is for this user, by id or by an address that is verified. */
const isFor = (user: { id: number }) => sql`(i.invitee_id = ${user.id} or lower(i.email) = (
  select lower(u.email) from accounts u where u.id = ${user.id} and u.email_verified))`

/** Ends the invitations of a user to an organization. Returns whether there were any. */
export async function endInvitations(db: Transaction, org: { id: number }, user: { id: number }): Promise<boolean> {
  const { rowCount } = await db.query(sql`delete from organization_invitations i where i.org_id = ${org.id} and ${isFor(user)}`)
  return Boolean(rowCount)
}

/** The membership that a user has once they accept. Only an invitation by id is shown to others. */
export async function findPendingMembership(
  db: Queryable,
  org: Account,
  user: Account,
  own: boolean,
): Promise<Membership | undefined> {
  const found = await db.first<{ role: OrganizationRole }>(sql`
    select i.role from organization_invitations i
    where i.org_id = ${org.id} and ${isFor(user)} and (${own}::boolean or i.invitee_id is not null) and ${isOpen(db)} order by i.id limit 1`)
  return found && { org, user, role: found.role, state: 'pending' }
}

/** The memberships of a user and their open invitations, ordered by the name of the organization. */
export async function listMemberships(db: Queryable, user: Account, state: string, slice: Slice): Promise<Listed<Membership>> {
  const all = sql`(
    select org_id, role, 'active' as state from memberships where user_id = ${user.id}
    union all select distinct on (i.org_id) i.org_id, i.role, 'pending' from organization_invitations i where ${isFor(user)} and ${isOpen(db)}
      and not exists (select from memberships m where m.org_id = i.org_id and m.user_id = ${user.id})) m
    join accounts a on a.id = m.org_id where ${state} in ('all', m.state)`
  type Row = Account & Required<Pick<Membership, 'role' | 'state'>>
  const { rows, total } = await listed<Row>(
    db,
    { columns: sql`${accountColumns}, m.role, m.state`, source: all, order: sql`lower(a.login)` },
    slice,
  )
  return { rows: rows.map(({ role, state, ...org }) => ({ org, user, role, state })), total }
}

/** The user joins the organization, and the teams of the invitation. */
export async function acceptInvitation(db: Transaction, org: Account, user: Account): Promise<Membership> {
  // Locked first, so that the second of two concurrent acceptances finds nothing.
  const { role, inviter_id, team_ids } = await db.load<{ role: OrganizationRole; inviter_id: number; team_ids: number[] }>(sql`
    select i.role, i.inviter_id, to_json(array(select t.team_id from organization_invitation_teams t where t.invitation_id = i.id)) as team_ids
    from organization_invitations i
    where i.org_id = ${org.id} and ${isFor(user)} and ${isOpen(db)}
      and not exists (select from memberships m where m.org_id = i.org_id and m.user_id = ${user.id})
    order by i.id limit 1 for update`)
  const pairs = sql`select ${user.id}::bigint as user_id, repo_id from team_repositories where team_id = any(${team_ids}::bigint[])`
  const inviter = { id: inviter_id }
  return changingAccess(db, thisOwner(org), pairs, async () => {
    const membership = await setMembership(db, inviter, org, user, role)
    const joined = await db.rows<{ team_id: number; member_id: number }>(sql`
      insert into team_members (team_id, user_id, role, created_at) select t.id, ${user.id}, 'member', ${db.now} from teams t where t.id = any(${team_ids}::bigint[])
      on conflict do nothing returning team_id, user_id as member_id`)
    await publishInOrganization(db, inviter, org, ...joined.map((facts) => ({ act: 'team.member_added' as const, ...facts })))
    await endInvitations(db, org, user)
    return membership
  })
}
