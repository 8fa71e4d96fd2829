import { checkAccess } from '#identity/access.ts'
import type { Account } from '#identity/accounts.ts'
import type { Caller } from '#identity/callers.ts'
import { allows, overOf } from '#identity/permissions.ts'
import { forbidden } from '#platform/errors.ts'
import type { Endpoint } from './endpoint.ts'

export const notForToken = () => forbidden('Resource not accessible by personal access token')
const notForApp = () => forbidden('Resource not accessible by integration')

/**
 * Refuses a fine-grained token without the endpoint's permission. Account settings and new repositories of the user are only for tokens
 * whose resource owner is the user.
 */
export function checkPermission({ token, user }: Caller, { permission, path, method }: Endpoint) {
  if (token?.kind !== 'fine_grained') return
  const ofApp = token.installation_id !== null || token.app_id !== null
  if (!allows(token.permissions, permission)) throw ofApp ? notForApp() : notForToken()
  // A bot has no account settings, even if no permission is needed for those of users.
  if (token.installation_id !== null && /^\/user(\/(?!\{)|$)/.test(path)) throw notForApp()
  const own = token.resource_owner_id === user?.id
  const over = overOf(permission)
  const makesOwn = over === 'repository' && method !== 'GET' && !/\{(owner|org)\}/.test(path)
  if (!own && (over === 'account' || makesOwn)) throw ofApp ? notForApp() : notForToken()
}

/**
 * Refuses a caller who is not an admin of a repository, for requests that need more than their endpoint does. The permission of an
 * installation stands for the level of access.
 */
export function checkAdmin({ token }: Caller, repo: { access: number }) {
  const ofApp = token?.kind === 'fine_grained' && token.installation_id !== null
  if (token?.kind === 'fine_grained' && !allows(token.permissions, 'administration:write'))
    throw ofApp ? notForApp() : notForToken()
  if (!ofApp) checkAccess(repo.access, 'admin')
}

/**
 * Whether the permission of an installation stands for the level of access that the endpoint asks of users. Only in repositories that the
 * installation includes.
 */
export function isGranted({ token }: Caller, { permission }: Endpoint) {
  return Boolean(token?.installation_id) && overOf(permission) === 'repository' && allows(token?.permissions ?? {}, permission)
}

/**
 * The role that stands for the permission of an installation on an organization: what the endpoint asks of users. Only for reading, because
 * an app is no member, and could not become the maintainer of a team.
 */
export function roleByPermission(
  { token }: Caller,
  { method, permission, org_role }: Endpoint,
  org: Pick<Account, 'id'>,
): 'admin' | 'member' | undefined {
  if (!token?.installation_id || method !== 'GET' || token.resource_owner_id !== org.id) return undefined
  if (overOf(permission) !== 'organization' || !allows(token.permissions, permission)) return undefined
  return org_role === 'owner' ? 'admin' : 'member'
}

/** Refuses a fine-grained token whose resource owner is not the account of this endpoint. */
export function checkResourceOwner({ token }: Caller, owner: Pick<Account, 'id'>) {
  if (token?.kind === 'fine_grained' && token.resource_owner_id !== owner.id) throw notForToken()
}
