import { resolveCommit } from '#git/objects.ts'
import { isReserved } from '#git/ref-names.ts'
import type { Storage } from '#git/storage.ts'
import { encodePath } from '#hosting/refs/json.ts'
import { findRecordedRefs, findRenamedBranch } from '#hosting/refs/recorded-refs.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import type { Queryable } from '#platform/database.ts'
import { missing, Refusal } from '#platform/errors.ts'
import { trimTrailing } from '#platform/trim.ts'
import { CommitCache } from './commit-cache.ts'

/** A file or a folder at a commit. */
export interface CodeLocation {
  repo: Repository
  /** A branch, a tag or a commit, as the address names it. */
  ref: string
  sha: string
  /** Empty for the root. */
  path: string
  /** Whether the ref is a branch, so that commits can be added to it. */
  is_branch: boolean
}

export type CodeView = 'tree' | 'blob' | 'raw' | 'blame' | 'commits' | 'find' | 'new' | 'edit' | 'delete'

/** The address of a page about a file or a folder. */
export const codeAddress = (view: CodeView, { repo, ref }: Pick<CodeLocation, 'repo' | 'ref'>, path = '') =>
  `${pathOf(repo)}/${view}/${encodePath(ref)}${path && `/${encodePath(path)}`}`

/** Each name is a question to the database or to git. */
const deepestRef = 8
/** Full ids of commits and tags by repository; what they lead to never changes. By the edition of the storage, because another may not have them. */
const editions = new WeakMap<object, CommitCache<string>>()

function resolvedIn({ edition }: Storage) {
  const resolved = editions.get(edition) ?? new CommitCache<string>(1 << 20, () => 100)
  editions.set(edition, resolved)
  return resolved
}

/**
 * Splits the rest of an address into a ref, which may contain slashes, and a path. No ref is the beginning of another, so the first that
 * exists is the right one. The former name of a branch gives its present name in `moved`.
 */
export async function findLocation(
  db: Queryable,
  storage: Storage,
  repo: Repository,
  rest: string,
): Promise<CodeLocation | { moved: CodeLocation }> {
  if (rest.includes('\0')) throw missing()
  const whole = trimTrailing(rest, '/')
  const parts = whole.split('/', deepestRef)
  const names = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
  const pathAfter = (name: string) => whole.slice(name.length + 1)
  const recorded = await findRecordedRefs(
    db,
    repo,
    names.flatMap((name) => [`refs/heads/${name}`, `refs/tags/${name}`, name]),
  )
  // A branch `refs` does not answer for full names.
  const [first = '', ...others] = names
  for (const name of (first === 'refs' ? [...others, first] : names).filter(Boolean)) {
    const sha = await resolveName(storage, repo, name, recorded)
    if (sha) return { repo, ref: name, sha, path: pathAfter(name), is_branch: branchNamed(name, recorded) === sha }
  }
  const renamed = await findRenamedBranch(db, repo, names)
  if (!renamed) throw missing()
  return { moved: { repo, ref: renamed.branch, sha: '', path: pathAfter(renamed.name), is_branch: true } }
}

/** The order is that of `resolveCommit`. */
async function resolveName(storage: Storage, repo: Repository, name: string, recorded: Map<string, string>) {
  if (/^[0-9a-f]{40}$/.test(name)) return resolveId(storage, repo, name)
  const branch = branchNamed(name, recorded)
  if (branch) return branch
  const tag = recorded.get(isReserved(`refs/tags/${name}`) ? name : `refs/tags/${name}`)
  // Git knows refs that no push has recorded yet, those of pull requests, and abbreviated ids.
  return tag ? resolveId(storage, repo, tag) : resolveCommit(storage, repo.id, name)
}

const branchNamed = (name: string, recorded: Map<string, string>) =>
  isReserved(`refs/heads/${name}`) ? undefined : recorded.get(`refs/heads/${name}`)

/** A missing object is not kept, because it may be pushed. */
async function resolveId(storage: Storage, repo: Repository, sha: string): Promise<string | undefined> {
  const found = resolvedIn(storage).get(`${repo.id} ${sha}`, async () => {
    const commit = await resolveCommit(storage, repo.id, sha)
    if (!commit) throw missing()
    return commit
  })
  return found.catch((error) => {
    if (error instanceof Refusal && error.reason === 'missing') return undefined
    throw error
  })
}

/** The default branch or, while that is missing, the first branch; undefined if there is none. */
export async function findDefaultLocation(
  db: Queryable,
  storage: Storage,
  repo: Repository,
  branches: string[],
): Promise<CodeLocation | undefined> {
  const names = [repo.default_branch, ...branches.slice(0, 1)]
  const recorded = await findRecordedRefs(
    db,
    repo,
    names.map((name) => `refs/heads/${name}`),
  )
  for (const ref of names) {
    const sha = recorded.get(`refs/heads/${ref}`) ?? (await resolveCommit(storage, repo.id, `refs/heads/${ref}`))
    if (sha) return { repo, ref, sha, path: '', is_branch: true }
  }
  return undefined
}
