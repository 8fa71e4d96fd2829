import { findInNetwork } from '#hosting/repositories/network.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Viewer } from '#identity/accounts.ts'
import type { Queryable } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import type { End } from './json.ts'

/** The two sides of `base...head`, in repositories that the viewer may see. */
export async function findEnds(
  db: Queryable,
  viewer: Viewer,
  repo: Repository,
  basehead: string,
): Promise<{ base: End; head: End }> {
  const [base, head, ...more] = basehead.split('...')
  if (!base || !head || more.length) throw missing()
  return { base: await findEnd(db, viewer, repo, base), head: await findEnd(db, viewer, repo, head) }
}

/** `branch`, `owner:branch` or `owner:repo:branch`. */
async function findEnd(db: Queryable, viewer: Viewer, repo: Repository, text: string): Promise<End> {
  const [, owner = repo.owner_login, repo_name, name = ''] = /^(?:([^:]*):(?:([^:]*):)?)?(.*)$/s.exec(text) ?? []
  const found = await findInNetwork(db, viewer, repo, owner, repo_name)
  if (!found || !name) throw missing()
  return { repo: found, name, text }
}
