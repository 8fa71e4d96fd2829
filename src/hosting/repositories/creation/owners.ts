import { listOrganizations } from '#hosting/organizations/organizations.ts'
import type { Account } from '#identity/accounts.ts'
import type { Queryable } from '#platform/database.ts'

const mostOrganizations = 100

/** The accounts in which a user may create repositories: their own, and the organizations that they are a member of. */
export async function listOwners(db: Queryable, user: Account): Promise<Account[]> {
  const { rows } = await listOrganizations(db, user, { limit: mostOrganizations, offset: 0 }, false)
  return [user, ...rows]
}
