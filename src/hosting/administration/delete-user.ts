import { recordAudit } from '#activity/audit.ts'
import { subscribedTo } from '#activity/outbox/subscribed-hooks.ts'
import { publish } from '#activity/publish.ts'
import { publishInOrganization } from '#activity/publish-in-organization.ts'
import { suspend } from '#hosting/people/people.ts'
import { deleteRepository } from '#hosting/repositories/update.ts'
import type { Account } from '#identity/accounts.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'
import { forbidden } from '#platform/errors.ts'

/**
 * Deletes a user and their repositories. What they wrote in repositories of others remains, without an author. The suspension comes
 * first, so that no repository is created meanwhile. A repository is deleted in a transaction of its own, because each of them locks a fork
 * network; an interrupted deletion is resumed by the next one.
 */
export async function deleteUser(db: Database, deleter: Account, user: Account) {
  await db.transaction(async (transaction) => {
    await checkNoLastOwner(transaction, user)
    await suspend(transaction, user)
    if (!user.suspended_at) await recordAudit(transaction, deleter, 'user.suspend', user.login)
  })
  for (;;) {
    const repo = await db.first<{ id: number; network_id: number }>(sql`
      select id, network_id from repositories where owner_id = ${user.id} order by id limit 1`)
    if (!repo) break
    await db.transaction((transaction) => deleteRepository(transaction, deleter, repo))
  }
  await db.transaction(async (transaction) => {
    await checkNoLastOwner(transaction, user)
    await endCollaborations(transaction, deleter, user)
    await endMemberships(transaction, deleter, user)
    await transaction.query(sql`delete from accounts where id = ${user.id}`)
    await recordAudit(transaction, deleter, 'user.delete', user.login)
  })
}

/** Before the account is deleted, because payloads show it. Only webhooks follow, so repositories without a subscribed hook are left out. */
async function endCollaborations(db: Transaction, deleter: Account, user: Account) {
  const repos = await db.rows<{ id: number }>(sql`
    with ended as (delete from collaborators where user_id = ${user.id} returning repo_id)
    select repo_id as id from ended where exists (${subscribedTo(sql`ended.repo_id`, [{ event: 'member' }])}) order by repo_id`)
  for (const repo of repos) await publish(db, deleter, repo, { act: 'member.removed', member_id: user.id })
}

interface Ended {
  org_id: number
  role: 'admin' | 'member'
  team_ids: number[]
}

/** Before the account is deleted, because payloads show it. */
async function endMemberships(db: Transaction, deleter: Account, user: Account) {
  const ended = await db.rows<Ended>(sql`
    with left_teams as (
      delete from team_members m using teams t where t.id = m.team_id and m.user_id = ${user.id} returning t.org_id, t.id
    ), left_orgs as (
      delete from memberships where user_id = ${user.id} returning org_id, role
    )
    select org_id, role, to_json(array(select id from left_teams t where t.org_id = o.org_id order by id)) as team_ids
    from left_orgs o order by org_id`)
  const member_id = user.id
  // A user is a member of few organizations.
  for (const { org_id, team_ids, role } of ended) {
    const teams = team_ids.map((team_id) => ({ act: 'team.member_removed' as const, team_id, member_id }))
    await publishInOrganization(db, deleter, { id: org_id }, ...teams, { act: 'organization.member_removed', member_id, role })
  }
}

/** An organization keeps an owner. The lock makes concurrent removals of owners take turns. */
async function checkNoLastOwner(db: Transaction, user: Account) {
  const owners = await db.rows<{ org_id: number; login: string; user_id: number }>(sql`
    select m.org_id, o.login, m.user_id from memberships m join accounts o on o.id = m.org_id
    where m.role = 'admin' and m.org_id in (select org_id from memberships where user_id = ${user.id} and role = 'admin')
    order by m.org_id, m.user_id for update of m`)
  const alone = owners.find(
    ({ org_id, user_id }) => !owners.some((other) => other.org_id === org_id && other.user_id !== user_id),
  )
  if (alone) throw forbidden(`${user.login} is the last owner of ${alone.login}: make someone else an owner first.`)
}
