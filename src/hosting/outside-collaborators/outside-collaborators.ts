import { publishInOrganization } from '#activity/publish-in-organization.ts'
import { endMembership, findMembership } from '#hosting/organizations/organizations.ts'
import { changingAccess, thisOwner } from '#hosting/repositories/watchers.ts'
import { permissionOf } from '#identity/access.ts'
import { type Account, type Person, personColumns } from '#identity/accounts.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { forbidden, Refusal } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

const secondFactors: Record<string, ReturnType<typeof sql>> = {
  all: sql`true`,
  '2fa_disabled': sql`not exists (select from two_factor f where f.user_id = a.id)`,
  '2fa_insecure': sql`exists (select from two_factor f where f.user_id = a.id and f.kind = 'sms')`,
}

/** Users who collaborate on repositories of an organization and are no members. */
export function listOutsideCollaborators(db: Queryable, org: Account, filter: string, slice: Slice): Promise<Listed<Person>> {
  const source = sql`accounts a
    where a.id in (select c.user_id from repositories r join collaborators c on c.repo_id = r.id where r.owner_id = ${org.id})
      and not exists (select from memberships m where m.org_id = ${org.id} and m.user_id = a.id) and ${secondFactors[filter] ?? sql`true`}`
  return listed(db, { columns: personColumns, source, order: sql`lower(a.login)` }, slice)
}

const watching = (org: Account, user: Account) => sql`
  select user_id, repo_id from subscriptions join repositories r on r.id = repo_id
  where user_id = ${user.id} and r.owner_id = ${org.id}`

/** The user is no member any more, and keeps the access that teams and collaborations gave. */
export async function convertMember(db: Transaction, converter: Account, org: Account, user: Account) {
  await changingAccess(db, thisOwner(org), watching(org, user), async () => {
    if (!(await findMembership(db, org, user))) throw forbidden(`${user.login} is not a member of the organization.`)
    const gained = await db.rows<{ repo_id: number; member_id: number; access: number; is_new: boolean }>(sql`
      insert into collaborators as c (repo_id, user_id, access, created_at)
      select t.repo_id, m.user_id, max(t.access), ${db.now} from team_repositories t join team_members m using (team_id) join teams on teams.id = team_id
      where teams.org_id = ${org.id} and m.user_id = ${user.id} group by 1, 2
      on conflict (repo_id, user_id) do update set access = greatest(c.access, excluded.access)
      returning repo_id, user_id as member_id, access, xmax = 0 as is_new`)
    const added = gained.flatMap(({ access, is_new, ...facts }) => {
      const changes = { permission: { to: permissionOf(access) } }
      return is_new ? [{ act: 'member.added_by_conversion' as const, ...facts, changes }] : []
    })
    await publishInOrganization(db, converter, org, ...added)
    await endMembership(db, converter, org, user, { keeps_repositories: true })
  })
}

/** Removes a user from all repositories of the organization. It is not an error if there are none. */
export async function removeOutsideCollaborator(db: Transaction, remover: Account, org: Account, user: Account) {
  // Invitations first: accepting one locks it before it locks access.
  await db.query(sql`
    delete from invitations using repositories r where r.id = repo_id and r.owner_id = ${org.id} and invitee_id = ${user.id}`)
  await changingAccess(db, thisOwner(org), watching(org, user), async () => {
    if (await findMembership(db, org, user)) {
      throw new Refusal('invalid', 'You cannot specify an organization member to remove as an outside collaborator.')
    }
    const gone = await db.rows<{ repo_id: number; member_id: number }>(sql`
      delete from collaborators using repositories r where r.id = repo_id and r.owner_id = ${org.id} and user_id = ${user.id}
      returning repo_id, user_id as member_id`)
    await publishInOrganization(
      db,
      remover,
      org,
      ...gone.map((facts) => ({ act: 'member.removed_with_membership' as const, ...facts })),
    )
  })
}
