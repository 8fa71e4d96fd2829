import { checkAccess, checkNotSuspended, checkWritable, levelOf, ownerSuspended } from '#identity/access.ts'
import { loadAccount, loadAccountById, type Viewer } from '#identity/accounts.ts'
import type { Caller } from '#identity/callers.ts'
import { overOf } from '#identity/permissions.ts'
import type { Database, Reader } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { type Endpoint, isNumbered, type PathOrganization, type PathRepository, type PathTeam } from './endpoint.ts'
import { byIdOwner, readPathId } from './listener.ts'
import { checkPermission, checkResourceOwner, isGranted, roleByPermission } from './permissions.ts'
import { readRest, restOf } from './rest-params.ts'

/** Loads the records that a path names. Each function refuses a record that the viewer may not see like one that does not exist. */
export interface PathLoaders {
  loadOrganization(db: Database, viewer_id: number | null, login: string): Promise<PathOrganization>
  checkRole(org: PathOrganization, role: 'member' | 'owner'): void
  loadTeam(db: Database, viewer_id: number | null, org: PathOrganization, slug: string): Promise<PathTeam>
  loadRepository(db: Reader, viewer: Viewer, owner: string, name: string): Promise<PathRepository>
  loadRepositoryById(db: Reader, viewer: Viewer, id: number): Promise<PathRepository>
  checkTokenIncludes(db: Database, viewer: Viewer, repo: PathRepository): Promise<void>
}

/** Parses the parameters of a path and loads the records that they name, in the order of the path. */
export async function loadRouteParams(
  loaders: PathLoaders,
  db: Database,
  endpoint: Endpoint,
  caller: Caller,
  params: Record<string, string>,
  early?: Promise<PathRepository>,
) {
  const { owner, repo, org, team_slug, username, ...rest } = params
  if (Object.values(params).some((value) => value.includes('\0'))) throw missing()
  const loaded: Record<string, unknown> = { params: readParams(endpoint, rest) }
  if (endpoint.viewer === 'app') return { ...loaded, names: params }
  if (org !== undefined) {
    const shown = await loaders.loadOrganization(db, caller.viewer_id, org)
    const found = { ...shown, role: roleByPermission(caller, endpoint, shown) ?? shown.role }
    // On an endpoint with optional authentication, a token for another account sees public data.
    if (endpoint.viewer !== 'optional' && overOf(endpoint.permission)) checkResourceOwner(caller, found)
    if (endpoint.org_role) loaders.checkRole(found, endpoint.org_role)
    if (endpoint.method !== 'GET' && endpoint.viewer !== 'site_admin') checkNotSuspended(found)
    loaded.org = found
    if (team_slug !== undefined) loaded.team = await loaders.loadTeam(db, caller.viewer_id, found, team_slug)
  }
  if (owner !== undefined && repo !== undefined) {
    const found = await (early ?? loadPathRepository(loaders, db, endpoint, caller, owner, repo))
    // What asks for neither is the caller's own, such as a subscription.
    if (found.owner_suspended && endpoint.method !== 'GET' && (endpoint.access || endpoint.writable)) throw ownerSuspended()
    if (endpoint.access && found.access < levelOf(endpoint.access)) {
      if (!isGranted(caller, endpoint)) checkAccess(found.access, endpoint.access)
      await loaders.checkTokenIncludes(db, caller, found)
    }
    // An endpoint with optional authentication serves public data to a fine-grained token without the permission.
    if (found.private) checkPermission(caller, endpoint)
    if (endpoint.writable) {
      checkWritable(found)
      await loaders.checkTokenIncludes(db, caller, found)
    }
    loaded.repo = found
  }
  if (username !== undefined) {
    const id = readPathId(username)
    loaded.user = await (id === undefined ? loadAccount(db, username) : loadAccountById(db, id))
  }
  return loaded
}

/** The repository that a path names, as the caller may see it. */
export async function loadPathRepository(
  loaders: PathLoaders,
  db: Reader,
  endpoint: Endpoint,
  caller: Caller,
  owner: string,
  name: string,
) {
  const viewer = { ...caller, sees_private: caller.sees_private || seesPrivate(endpoint, caller) }
  if (owner === byIdOwner) return loaders.loadRepositoryById(db, viewer, readNumber('repository_id', name))
  return loaders.loadRepository(db, viewer, owner, name)
}

function seesPrivate({ sees_private }: Endpoint, { may }: Caller) {
  return sees_private === true || (sees_private !== undefined && may(sees_private))
}

/** Refuses the request if the caller cannot see the repository, organization or team in the path. Users are visible to everyone. */
export async function checkVisible(
  loaders: PathLoaders,
  db: Database,
  { access, org_role, writable, ...endpoint }: Endpoint,
  caller: Caller,
  { username, ...params }: Record<string, string>,
) {
  if (params.repo !== undefined || params.org !== undefined) await loadRouteParams(loaders, db, endpoint, caller, params)
}

/** The router names the rest of a path `*`; the endpoint declares a name for it. */
function readParams({ path }: Endpoint, params: Record<string, string>) {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) =>
      name === '*'
        ? [restOf(path)?.name ?? '', readRest(path, value)]
        : [name, isNumbered(name) ? readNumber(name, value) : value],
    ),
  )
}

/**
 * Not Found for anything but a number in range. Ids have up to 15 digits, numbers within a repository up to 9. NaN for a malformed id of a
 * delivery, which the handler refuses with 400 once the caller may see the hook, as the spec says.
 */
function readNumber(name: string, text: string) {
  if (name === 'delivery_id' && !/^\d+$/.test(text)) return Number.NaN
  if (!/^\d{1,15}$/.test(text) || (name.endsWith('_number') && text.length > 9)) throw missing()
  return Number(text)
}
