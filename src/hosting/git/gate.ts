import type { FastifyRequest } from 'fastify'
import type { Belfry } from '#belfry.ts'
import type { ServiceName } from '#git/smart-http.ts'
import { loadRepository, loadRepositoryById, type Repository } from '#hosting/repositories/repositories.ts'
import { noteRecords } from '#http/deletion.ts'
import { Moved } from '#http/moved.ts'
import { checkAccess, checkWritable, ownerSuspended } from '#identity/access.ts'
import { Authenticator, anonymous, type Caller } from '#identity/callers.ts'
import { allows } from '#identity/permissions.ts'
import { forbidden, missing, Refusal } from '#platform/errors.ts'

interface RepositoryPath {
  owner: string
  repo: string
}

export interface Admitted {
  repo: Repository
  caller: Caller
}

/** Loads the repository and the caller of a git request, and checks access. Refusals reveal only what the caller may know. */
export function openGate(belfry: Belfry) {
  const { db, storage, settings } = belfry
  const authenticator = new Authenticator(belfry)

  return { admit, readmit }

  async function admit(request: FastifyRequest, name: ServiceName): Promise<Admitted> {
    const { owner, repo: named } = request.params as RepositoryPath
    const caller = await identify(request)
    request.visitor_login = caller.user?.login
    // Git asks its user for credentials only after a 401.
    if ((name === 'receive-pack' || settings.BELFRY_SIGN_IN_ONLY === 'on') && !caller.user) throw unauthenticated()
    const repo = await find(caller, owner, named.replace(/\.git$/i, '')).catch((error) => {
      throw error instanceof Refusal && error.reason === 'missing' && !caller.user ? unauthenticated() : error
    })
    if (name === 'receive-pack') checkPush(caller, repo)
    else checkFetch(caller, repo)
    noteRecords(request, { repo, accounts: [caller.user] })
    if (!storage.has(repo.id)) {
      throw new Refusal('unavailable', 'The contents of this repository are still being copied. Try again in a moment.')
    }
    return { repo, caller }
  }

  /** Checks again, when a long upload has arrived, that the caller may write to the repository to which it was sent. */
  async function readmit(request: FastifyRequest, { id }: Repository): Promise<Admitted> {
    const caller = await identify(request)
    const repo = await loadRepositoryById(db, caller, id)
    checkPush(caller, repo)
    return { repo, caller }
  }

  async function identify({ ip: address, headers: { authorization } }: FastifyRequest) {
    if (authorization === undefined) return anonymous
    return authenticator.authenticate({ authorization, address, code: null })
  }

  async function find(caller: Caller, owner: string, name: string) {
    if (!/^[\w.-]+$/.test(owner) || !/^[\w.-]+$/.test(name)) throw missing()
    // A former name is served in place: git drops a redirect that follows a 401, so that a push would fail.
    return loadRepository(db, caller, owner, name).catch((error) => {
      if (error instanceof Moved) return loadRepositoryById(db, caller, error.to.id)
      throw error
    })
  }
}

const unauthenticated = () =>
  new Refusal(
    'unauthenticated',
    'Sign in with your login and a personal access token. A password works if the account has no second factor.',
  )

const notForToken = () => forbidden('Resource not accessible by personal access token')

/** Every token may read public repositories. */
function checkFetch({ token }: Caller, repo: Repository) {
  if (repo.private && token?.kind === 'fine_grained' && !allows(token.permissions, 'contents:read')) throw notForToken()
}

function checkPush({ token, may }: Caller, repo: Repository) {
  if (token?.kind === 'fine_grained') {
    if (!allows(token.permissions, 'contents:write')) throw notForToken()
  } else if (!may('repo') && (repo.private || !may('public_repo'))) {
    throw forbidden(`Missing the '${repo.private ? 'repo' : 'public_repo'}' scope.`)
  }
  if (repo.owner_suspended) throw ownerSuspended()
  checkAccess(repo.access, 'push')
  checkWritable(repo)
}
