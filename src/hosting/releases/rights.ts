import type { Repository } from '#hosting/repositories/repositories.ts'
import { levelOf } from '#identity/access.ts'
import type { Caller } from '#identity/callers.ts'
import { allows } from '#identity/permissions.ts'

/** Drafts are visible to users with push access, through a token that may push. */
export function seesDrafts({ access, private: hidden }: Repository, { token, may }: Caller) {
  const allowed =
    token?.kind === 'fine_grained' ? allows(token.permissions, 'contents:write') : may(hidden ? 'repo' : 'public_repo')
  return access >= levelOf('push') && allowed
}

/** Pages have no token that limits the visitor. */
export const visitorSeesDrafts = ({ access }: Repository) => access >= levelOf('push')

export const mayRelease = (repo: Repository) => visitorSeesDrafts(repo) && !repo.archived
