import type { App } from '#identity/apps.ts'
import type { Caller } from '#identity/callers.ts'
import type { Application } from '#identity/clients.ts'
import { forbidden, missing, Refusal } from '#platform/errors.ts'
import type { Endpoint } from './endpoint.ts'
import { checkPermission } from './permissions.ts'

/** Who calls: a user or an anonymous client, an application, or an app. */
interface Callers {
  caller: Caller
  application: Application | undefined
  app: App | undefined
}

/** Refuses a caller that the declaration does not admit. */
export function checkCaller(endpoint: Endpoint, { caller, application, app }: Callers) {
  const { viewer, scopes = [] } = endpoint
  if (viewer === 'optional' && (!caller.user || caller.token?.kind === 'fine_grained')) return
  const known = viewer === 'client' ? application : viewer === 'app' ? app : caller.user
  if (!known) throw new Refusal('unauthenticated', 'Requires authentication')
  if (viewer === 'client' || viewer === 'app') return
  if (viewer === 'installation' && !caller.token?.installation_id) {
    throw forbidden('You must authenticate via an app. Use the token of one of its installations.')
  }
  if (viewer === 'password' && caller.via !== 'password') {
    throw forbidden('This API can only be accessed with username and password Basic Auth')
  }
  if (viewer === 'classic_token' && caller.token?.kind !== 'classic') {
    throw forbidden('This API can only be accessed with a personal access token (classic)')
  }
  if (
    viewer === 'site_admin' &&
    !(caller.user?.site_admin && caller.may('site_admin') && caller.token?.kind !== 'fine_grained')
  ) {
    throw missing()
  }
  if (caller.token?.kind === 'fine_grained') {
    checkPermission(caller, endpoint)
  } else if (scopes.length && !scopes.some((scope) => caller.may(scope))) {
    throw forbidden(`Missing the ${scopes.map((scope) => `'${scope}'`).join(' or ')} scope.`)
  }
}
