import { findRef, hasRefs, holdsAll, listRefs, noObject, type Ref, resolveCommit, typeOf } from '#git/objects.ts'
import { isRefName, isReserved, reserved } from '#git/ref-names.ts'
import type { Storage } from '#git/storage.ts'
import { pushRefs } from '#hosting/pushes/pushes.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account } from '#identity/accounts.ts'
import type { Database } from '#platform/database.ts'
import { missing, Refusal } from '#platform/errors.ts'

const refused = (message: string) => new Refusal('invalid', message)

/** Refs that begin with `refs/` and this prefix, such as `heads/feature`. */
export async function listMatchingRefs(storage: Storage, repo: Repository, prefix: string): Promise<Ref[]> {
  const refs = await listRefs(storage, repo.id, `refs/${prefix}`)
  if (!refs.length) await checkNotEmpty(storage, repo)
  return refs
}

export async function loadRef(storage: Storage, repo: Repository, name: string): Promise<Ref> {
  const ref = await findRef(storage, repo.id, `refs/${name}`)
  if (ref) return ref
  await checkNotEmpty(storage, repo)
  throw missing()
}

async function checkNotEmpty(storage: Storage, repo: Repository) {
  if (!(await hasRefs(storage, repo.id, 'refs/'))) throw new Refusal('conflict', 'Git Repository is empty.')
}

export async function createRef(
  db: Database,
  storage: Storage,
  repo: Repository,
  pusher: Account,
  wanted: { ref: string; sha: string },
): Promise<Ref> {
  const { ref: name, sha } = wanted
  checkName(name)
  await checkNotEmpty(storage, repo)
  const type = await checkObject(storage, repo, name, sha)
  if (await findRef(storage, repo.id, name)) throw refused('Reference already exists')
  if (isReserved(name)) throw refused(reserved)
  await pushRefs(db, storage, repo, pusher, [{ ref: name, before: noObject, after: sha }])
  return { name, sha, type }
}

export async function updateRef(
  db: Database,
  storage: Storage,
  repo: Repository,
  pusher: Account,
  name: string,
  { sha, force = false }: { sha: string; force?: boolean },
): Promise<Ref> {
  const ref = await findWritable(storage, repo, name)
  const type = await checkObject(storage, repo, ref.name, sha)
  if (sha === ref.sha) return ref
  if (!force && !(await isForward(storage, repo, ref.sha, sha))) throw refused('Update is not a fast forward')
  await pushRefs(db, storage, repo, pusher, [{ ref: ref.name, before: ref.sha, after: sha }])
  return { name: ref.name, sha, type }
}

export async function deleteRef(db: Database, storage: Storage, repo: Repository, pusher: Account, name: string) {
  const ref = await findWritable(storage, repo, name)
  if (ref.name === `refs/heads/${repo.default_branch}`) throw refused('Cannot delete the default branch')
  await pushRefs(db, storage, repo, pusher, [{ ref: ref.name, before: ref.sha, after: noObject }])
}

async function findWritable(storage: Storage, repo: Repository, name: string): Promise<Ref> {
  checkName(`refs/${name}`)
  const ref = await findRef(storage, repo.id, `refs/${name}`)
  if (!ref) throw refused('Reference does not exist')
  return ref
}

/** Users may move branches and tags only. */
function checkName(name: string) {
  if (!/^refs\/[^/]+\/./.test(name)) throw refused("Reference name must start with 'refs/' and have at least two slashes")
  if (!isRefName(name)) throw refused(`${name} is not a valid ref name.`)
  if (!/^refs\/(heads|tags)\//.test(name)) throw refused('Only branches and tags can be written: refs/heads/… and refs/tags/…')
}

async function checkObject(storage: Storage, repo: Repository, name: string, sha: string): Promise<string> {
  if (!/^[0-9a-f]{40}$/.test(sha)) {
    throw refused('The sha parameter must be exactly 40 characters and contain only [0-9a-f].')
  }
  const type = await typeOf(storage, repo.id, sha)
  if (!type) throw refused('Object does not exist')
  if (name.startsWith('refs/heads/') && type !== 'commit') throw refused('A branch must be a commit')
  return type
}

/** Whether the move loses no commits. Objects other than commits have no history. */
async function isForward(storage: Storage, repo: Repository, before: string, after: string): Promise<boolean> {
  const [from, to] = [await resolveCommit(storage, repo.id, before), await resolveCommit(storage, repo.id, after)]
  return from !== undefined && to !== undefined && holdsAll(storage, repo.id, to, from)
}
