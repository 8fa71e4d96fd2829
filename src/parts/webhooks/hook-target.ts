import type { Organization } from '#hosting/organizations/organizations.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { levelOf, ownerSuspended } from '#identity/access.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'

/** The repository, organization or app (`integration`) that hooks belong to; `path` starts the addresses of their endpoints. */
export interface HookTarget {
  type: 'repository' | 'organization' | 'integration'
  id: number
  path: string
}

type TargetSource =
  | { repo: Pick<Repository, 'id' | 'owner_login' | 'name' | 'access' | 'owner_suspended'> }
  | { org: Pick<Organization, 'id' | 'login' | 'role'> }

/** Responds 404 to callers who do not administer the repository or organization. */
export function targetOf(source: TargetSource): HookTarget {
  if ('repo' in source) {
    const { id, owner_login, name, access, owner_suspended } = source.repo
    if (access < levelOf('admin')) throw owner_suspended ? ownerSuspended() : missing()
    return { type: 'repository', id, path: `repos/${owner_login}/${name}` }
  }
  const { id, login, role } = source.org
  if (role !== 'admin') throw missing()
  return { type: 'organization', id, path: `orgs/${login}` }
}

/** What the audit log names: the repository or organization, and the receiver without its path, which may contain a secret. */
export const auditSubject = ({ path }: HookTarget, { id, url }: { id: number; url: string }) =>
  `${path.slice(path.indexOf('/') + 1)}: hook ${id} to ${URL.parse(url)?.host ?? ''}`

/** A condition: the hooks of a target. Deleted hooks remain in the table for their last deliveries only. */
export const hooksOf = ({ type, id }: HookTarget) => sql`${columns[type]} = ${id} and h.deleted_at is null`
const columns = { repository: sql`h.repo_id`, organization: sql`h.org_id`, integration: sql`h.app_id` }

/** Serializes changes to the hooks of a target, because the checks for duplicates and counts look at all of them. */
export async function lockHooks(db: Transaction, { type, id }: HookTarget) {
  await db.query(sql`select pg_advisory_xact_lock(${locks[type]}::integer, hashint8(${id}))`)
}
const locks: Record<HookTarget['type'], number> = { repository: 0x686f6f6b, organization: 0x6f726768, integration: 0x61707068 }
