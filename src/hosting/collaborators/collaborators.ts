import { publish } from '#activity/publish.ts'
import { loadRepositoryById, type Repository } from '#hosting/repositories/repositories.ts'
import { changingAccess, onePair, whoOwns } from '#hosting/repositories/watchers.ts'
import { permissionOf, roleOf } from '#identity/access.ts'
import { type Account, type Person, personColumns, type Viewer } from '#identity/accounts.ts'
import { type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

export interface Collaborator extends Person {
  access: number
}

/** Everyone who has access by name: the owner, collaborators, and in an organization its members and teams. */
const named = (repo: Repository) => sql`
  (select user_id from collaborators where repo_id = ${repo.id}
   union select owner_id from repositories where id = ${repo.id} and ${repo.owner_type === 'User'}::boolean
   union select m.user_id from memberships m join accounts o on o.id = m.org_id
     where m.org_id = ${repo.owner_id} and (m.role = 'admin' or o.member_access > 0)
   union select m.user_id from team_members m join team_repositories t using (team_id) where t.repo_id = ${repo.id})`

export function listCollaborators(db: Queryable, repo: Repository, least: number, slice: Slice): Promise<Listed<Collaborator>> {
  const source = sql`
    ${named(repo)} who join accounts a on a.id = who.user_id
    join repositories r on r.id = ${repo.id}
    where access_of(a.id, r) >= ${least}::integer`
  return listed(db, { columns: sql`${personColumns}, access_of(a.id, r) as access`, source, order: sql`lower(a.login)` }, slice)
}

/** A user's access, without a check of the caller's. */
export async function accessOfUser(db: Queryable, repo: Repository, user: Account): Promise<number> {
  const row = await db.first<{ access: number }>(
    sql`select access_of(${user.id}, r) as access from repositories r where r.id = ${repo.id}`,
  )
  return row?.access ?? 0
}

/** Access by name, beyond what everyone has to a public repository. */
export async function isCollaborator(db: Queryable, repo: Repository, user: Account): Promise<boolean> {
  const { rowCount } = await db.query(sql`select from ${named(repo)} who where who.user_id = ${user.id}`)
  return rowCount === 1
}

export interface Invitation {
  id: number
  repo_id: number
  access: number
  created_at: Date
  /** Null while it is open. */
  accepted_at: Date | null
  invitee: Person
  inviter: Person
}

/**
 * Gives a user access: at once if they already have some, otherwise by an invitation.
 * Returns the invitation, or undefined when none is needed.
 */
export async function addCollaborator(
  db: Transaction,
  repo: Repository,
  inviter: Account,
  user: Account,
  access: number,
): Promise<Invitation | undefined> {
  if (user.type !== 'User') throw invalid({ resource: 'Repository', code: 'custom', message: 'Only people can collaborate' })
  if (user.id === repo.owner_id) {
    throw invalid({ resource: 'Repository', code: 'custom', message: 'Repository owner cannot be a collaborator' })
  }
  if (await belongs(db, repo, user)) {
    // An older invitation must not be accepted after this.
    await endInvitations(db, sql`repo_id = ${repo.id} and invitee_id = ${user.id}`)
    await putCollaborator(db, repo, inviter, user, access)
    return undefined
  }
  await db.query(sql`
    insert into invitations (repo_id, invitee_id, inviter_id, access, created_at)
    values (${repo.id}, ${user.id}, ${inviter.id}, ${access}, ${db.now})
    on conflict (repo_id, invitee_id) do update set access = excluded.access, inviter_id = excluded.inviter_id, created_at = excluded.created_at`)
  const { rows } = await listInvitations(db, { repo_id: repo.id, invitee_id: user.id }, { limit: 1, offset: 0 })
  const facts = { invitation_id: rows[0]?.id ?? 0, people: [user.id] }
  await publish(db, inviter, repo, { act: 'member.invited', ...facts })
  return rows[0]
}

async function belongs(db: Queryable, repo: Repository, user: Account) {
  const { rowCount } = await db.query(sql`
    select from collaborators where repo_id = ${repo.id} and user_id = ${user.id}
    union all select from memberships where org_id = ${repo.owner_id} and user_id = ${user.id}`)
  return (rowCount ?? 0) > 0
}

/** Publishes a new collaborator, or a change of access. */
async function putCollaborator(db: Transaction, repo: { id: number }, adder: { id: number }, user: Account, access: number) {
  const before = await changingAccess(db, whoOwns(repo), onePair(user, repo), () => writeAccess(db, repo, user, access))
  if (before === undefined) {
    const changes = { permission: { to: permissionOf(access) } }
    await publish(db, adder, repo, { act: 'member.added', member_id: user.id, changes })
  } else if (before !== access) {
    const [from, to] = [roleOf(before), roleOf(access)]
    const changes = { old_permission: { from }, permission: { from, to } }
    await publish(db, adder, repo, { act: 'member.edited', member_id: user.id, changes })
  }
}

/** Returns the access before. */
async function writeAccess(db: Transaction, repo: { id: number }, user: Account, access: number): Promise<number | undefined> {
  const held = await db.first<{ access: number }>(sql`
    select access from collaborators where repo_id = ${repo.id} and user_id = ${user.id} for update`)
  await db.query(sql`
    insert into collaborators (repo_id, user_id, access, created_at) values (${repo.id}, ${user.id}, ${access}, ${db.now})
    on conflict (repo_id, user_id) do update set access = excluded.access`)
  return held?.access
}

/** Removes access and an invitation. It is not an error if there was none. */
export async function removeCollaborator(db: Transaction, repo: Repository, remover: Account, user: Account) {
  await endInvitations(db, sql`repo_id = ${repo.id} and invitee_id = ${user.id}`)
  const { rowCount } = await changingAccess(db, whoOwns(repo), onePair(user, repo), () =>
    db.query(sql`delete from collaborators where repo_id = ${repo.id} and user_id = ${user.id}`),
  )
  if (rowCount) await publish(db, remover, repo, { act: 'member.removed', member_id: user.id })
}

/** How long an invitation is valid. */
export const goodFor = sql`interval '7 days'`

/** Open invitations to a repository, of a user, or both. */
export function listInvitations(
  db: Queryable,
  { id = null, repo_id = null, invitee_id = null }: { id?: number | null; repo_id?: number | null; invitee_id?: number | null },
  slice: Slice,
): Promise<Listed<Invitation>> {
  const source = sql`
    invitations i ${people}
    where (${id}::bigint is null or i.id = ${id}) and (${repo_id}::bigint is null or i.repo_id = ${repo_id}) and (${invitee_id}::bigint is null or i.invitee_id = ${invitee_id})
      and i.created_at > ${db.now}::timestamptz - ${goodFor}`
  return listed(db, { columns: sql`${columns}, null as accepted_at`, source, order: sql`i.id` }, slice)
}

const people = sql`join accounts a on a.id = i.invitee_id join accounts b on b.id = i.inviter_id`
const columns = sql`i.id, i.repo_id, i.access, i.created_at,
  json_build_object('id', a.id, 'type', a.type, 'login', a.login, 'site_admin', a.site_admin) as invitee,
  json_build_object('id', b.id, 'type', b.type, 'login', b.login, 'site_admin', b.site_admin) as inviter`

/** An invitation of this user, open or accepted. An accepted one is found while its repository is visible to them. */
export async function loadInvitation(db: Queryable, viewer: Viewer, invitee: Account, id: number): Promise<Invitation> {
  const { rows } = await listInvitations(db, { id, invitee_id: invitee.id }, { limit: 1, offset: 0 })
  if (rows[0]) return rows[0]
  const accepted = await db.load<Invitation>(sql`
    select ${columns}, i.accepted_at from accepted_invitations i ${people} where i.id = ${id} and i.invitee_id = ${invitee.id}`)
  await loadRepositoryById(db, viewer, accepted.repo_id)
  return accepted
}

export async function updateInvitation(db: Transaction, repo: Repository, id: number, access: number): Promise<Invitation> {
  await db.query(sql`update invitations set access = ${access} where id = ${id} and repo_id = ${repo.id}`)
  const { rows } = await listInvitations(db, { id, repo_id: repo.id }, { limit: 1, offset: 0 })
  if (!rows[0]) throw missing()
  return rows[0]
}

export async function withdrawInvitation(db: Transaction, repo: Repository, id: number) {
  if (!(await endInvitations(db, sql`id = ${id} and repo_id = ${repo.id}`))) throw missing()
}

export async function acceptInvitation(db: Transaction, invitee: Account, id: number) {
  const open = sql`id = ${id} and invitee_id = ${invitee.id} and created_at > ${db.now}::timestamptz - ${goodFor}`
  // Locked first, so that the second of two concurrent acceptances finds nothing.
  const found = await db.load<{ repo_id: number; inviter_id: number; access: number }>(sql`
    select repo_id, inviter_id, access from invitations where ${open} for update`)
  await db.query(sql`
    insert into accepted_invitations (id, repo_id, invitee_id, inviter_id, access, created_at, accepted_at)
    select id, repo_id, invitee_id, inviter_id, access, created_at, ${db.now} from invitations where ${open}`)
  await db.query(sql`delete from invitations where ${open}`)
  await putCollaborator(db, { id: found.repo_id }, { id: found.inviter_id }, invitee, found.access)
  await publish(db, invitee, { id: found.repo_id }, { act: 'member.accepted', invitation_id: id, people: [invitee.id] })
}

export async function declineInvitation(db: Transaction, invitee: Account, id: number) {
  if (!(await endInvitations(db, sql`id = ${id} and invitee_id = ${invitee.id}`))) throw missing()
}

/** The database deletes the notification of an invitation that was not accepted. */
async function endInvitations(db: Transaction, condition: Sql): Promise<number> {
  const { rowCount } = await db.query(sql`delete from invitations where ${condition}`)
  return rowCount ?? 0
}
