import type { Organization } from '#hosting/organizations/organizations.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { levelOf } from '#identity/access.ts'
import { sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'

/** Whose hooks they are; `path` is what their addresses begin with. */
export interface HookTarget {
  type: 'repository' | 'organization'
  id: number
  path: string
}

type Holder =
  | { repo: Pick<Repository, 'id' | 'owner_login' | 'name' | 'access'> }
  | { org: Pick<Organization, 'id' | 'login' | 'role'> }

/** Whoever does not run a repository or an organization does not learn that it can have hooks. */
export function targetOf(holder: Holder): HookTarget {
  if ('repo' in holder) {
    const { id, owner_login, name, access } = holder.repo
    if (access < levelOf('admin')) throw missing()
    return { type: 'repository', id, path: `repos/${owner_login}/${name}` }
  }
  const { id, login, role } = holder.org
  if (role !== 'admin') throw missing()
  return { type: 'organization', id, path: `orgs/${login}` }
}

/** The hooks of a target, as a condition: those deleted are there only for their last deliveries. */
export const hooksOf = ({ type, id }: HookTarget) =>
  type === 'repository' ? sql`h.repo_id = ${id} and h.deleted_at is null` : sql`h.org_id = ${id} and h.deleted_at is null`
