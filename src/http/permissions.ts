import type { Account } from '#identity/accounts.ts'
import type { Caller } from '#identity/callers.ts'
import { allows, overOf } from '#identity/permissions.ts'
import { forbidden } from '#platform/errors.ts'
import type { Endpoint } from './endpoint.ts'

export const notForToken = () => forbidden('Resource not accessible by personal access token')

/**
 * Refuses a fine-grained token without the endpoint's permission. Account settings and new repositories of the user are only for tokens
 * whose resource owner is the user.
 */
export function checkPermission({ token, user }: Caller, { permission, path, method }: Endpoint) {
  if (token?.kind !== 'fine_grained') return
  if (!allows(token.permissions, permission)) throw notForToken()
  const own = token.resource_owner_id === user?.id
  const over = overOf(permission)
  const makesOwn = over === 'repository' && method !== 'GET' && !/\{(owner|org)\}/.test(path)
  if (!own && (over === 'account' || makesOwn)) throw notForToken()
}

/** Refuses a fine-grained token whose resource owner is not the account of this endpoint. */
export function checkResourceOwner({ token }: Caller, owner: Pick<Account, 'id'>) {
  if (token?.kind === 'fine_grained' && token.resource_owner_id !== owner.id) throw notForToken()
}
