import type { Belfry } from '#belfry.ts'
import { loadRepository, type Repository } from '#hosting/repositories/repositories.ts'
import { loadVisibleRepository, noted } from '#hosting/repositories/views/repository-page.ts'
import { notForToken } from '#http/permissions.ts'
import { Authenticator } from '#identity/callers.ts'
import { allows } from '#identity/permissions.ts'
import { missing } from '#platform/errors.ts'
import type { Visit } from '#web/page.ts'

const authenticators = new WeakMap<Belfry, Authenticator>()

/** The repository of a file's address. Programs send the same credentials as to the API; browsers have a session. */
export async function loadReadableRepository(visit: Visit): Promise<Repository> {
  const { authorization } = visit.request.headers
  if (authorization === undefined) return loadVisibleRepository(visit)
  const authenticator = authenticators.get(visit.belfry) ?? new Authenticator(visit.belfry)
  authenticators.set(visit.belfry, authenticator)
  const caller = await authenticator.authenticate({ authorization, address: visit.request.ip, code: null })
  const { owner = '', repo: name = '' } = visit.params
  if (/\0/.test(owner + name)) throw missing()
  const repo = await loadRepository(visit.db, caller, owner, name)
  const { token } = caller
  if (repo.private && token?.kind === 'fine_grained' && !allows(token.permissions, 'contents:read')) throw notForToken()
  return noted(visit, repo)
}
