import { findMembership } from '#hosting/organizations/organizations.ts'
import { type Account, loadAccount } from '#identity/accounts.ts'
import type { Queryable } from '#platform/database.ts'
import { invalid, Refusal } from '#platform/errors.ts'

/** The account that gets a new repository: the viewer, or an organization of which the viewer is a member. */
export async function loadReceiver(db: Queryable, viewer: Account, login: string): Promise<Account> {
  const owner = await loadAccount(db, login).catch((error) => {
    throw error instanceof Refusal ? noSuchOwner(login) : error
  })
  if (owner.id === viewer.id) return owner
  if (owner.type !== 'Organization' || !(await findMembership(db, owner, viewer))) throw noSuchOwner(login)
  return owner
}

export const noSuchOwner = (login: string) =>
  invalid({
    resource: 'Repository',
    code: 'invalid',
    field: 'owner',
    message: `'${login}' is not an account in which you may create repositories`,
  })
