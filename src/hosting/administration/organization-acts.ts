import { type Administrator, actorOf, recordAudit } from '#activity/audit.ts'
import { renameOrganization } from '#hosting/organizations/organizations.ts'
import { suspend, unsuspend } from '#hosting/people/people.ts'
import { deleteRepository } from '#hosting/repositories/update.ts'
import type { Account } from '#identity/accounts.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'

/** What a site admin can do to an organization. Each is in the audit log. */
export const organizationActs = ['suspend', 'unsuspend', 'rename', 'delete'] as const
export type OrganizationAct = (typeof organizationActs)[number]

/** Returns the login afterwards; null when the organization is deleted. */
export async function administerOrganization(
  db: Database,
  admin: Administrator,
  org: Account,
  act: OrganizationAct,
  { new_login = '', confirm }: { new_login?: string; confirm?: string } = {},
): Promise<string | null> {
  if (act !== 'delete') return db.transaction((transaction) => changeOrganization(transaction, admin, org, act, new_login))
  if (confirm !== undefined && confirm.toLowerCase() !== org.login.toLowerCase()) {
    throw invalid({ resource: 'Organization', code: 'custom', message: `To confirm, type ${org.login}` })
  }
  await deleteOrganization(db, admin, org)
  return null
}

export async function changeOrganization(
  db: Transaction,
  admin: Administrator,
  org: Account,
  act: Exclude<OrganizationAct, 'delete'>,
  new_login = '',
): Promise<string> {
  let { login } = org
  if (act === 'rename') login = (await renameOrganization(db, actorOf(admin), org, new_login)).login
  else if (act === 'suspend') await suspend(db, org)
  else await unsuspend(db, org)
  await recordAudit(db, admin, `org.${act}`, act === 'rename' ? `${org.login} → ${login}` : login)
  return login
}

/**
 * Deletes an organization with its repositories, teams, webhooks, apps and memberships. Its members keep their accounts. As for a user, the suspension
 * comes first and each repository has a transaction of its own; an interrupted deletion is resumed by the next one.
 */
async function deleteOrganization(db: Database, admin: Administrator, org: Account) {
  await db.transaction(async (transaction) => {
    await suspend(transaction, org)
    if (!org.suspended_at) await recordAudit(transaction, admin, 'org.suspend', org.login)
  })
  for (;;) {
    const repo = await db.first<{ id: number; network_id: number }>(sql`
      select id, network_id from repositories where owner_id = ${org.id} order by id limit 1`)
    if (!repo) break
    await db.transaction((transaction) => deleteRepository(transaction, actorOf(admin), repo))
  }
  await db.transaction(async (transaction) => {
    await transaction.query(sql`update hooks set deleted_at = ${db.now} where org_id = ${org.id} and deleted_at is null`)
    await transaction.query(sql`delete from accounts where id = ${org.id}`)
    await recordAudit(transaction, admin, 'org.delete', org.login)
  })
}
