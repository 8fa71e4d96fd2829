import { type CommitObject, findRef, hasRefs, listBranchRefs, type Ref, readCommit, resolveCommit } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { type Person, personColumns } from '#identity/accounts.ts'
import { type Listed, type Queryable, type Slice, sql } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import type { Authors } from './json.ts'

export async function listBranches(storage: Storage, repo: Repository, { limit, offset }: Slice): Promise<Listed<Ref>> {
  const refs = await listBranchRefs(storage, repo.id)
  return { rows: refs.slice(offset, offset + limit), total: refs.length }
}

export async function loadBranch(storage: Storage, repo: Repository, name: string): Promise<Ref> {
  const branch = await findRef(storage, repo.id, `refs/heads/${name}`)
  if (!branch) throw new Refusal('missing', 'Branch not found')
  return branch
}

/** By the name of a branch or a tag, or the first digits of its own. */
export async function loadCommit(storage: Storage, repo: Repository, name: string): Promise<CommitObject> {
  const sha = await resolveCommit(storage, repo.id, name)
  if (sha) return readCommit(storage, repo.id, sha)
  if (!(await hasRefs(storage, repo.id, 'refs/'))) throw new Refusal('conflict', 'Git Repository is empty.')
  throw new Refusal('invalid', `No commit found for SHA: ${name}`)
}

/** The accounts that a commit's addresses are of: their own, or the one that reaches nobody, see authorOf. */
export async function findAuthors(db: Queryable, commit: CommitObject): Promise<Authors> {
  const [authors = { author: undefined, committer: undefined }] = await findAllAuthors(db, [commit])
  return authors
}

/** The same of many, in their order. */
export async function findAllAuthors(
  db: Queryable,
  commits: { author: { email: string }; committer: { email: string } }[],
): Promise<Authors[]> {
  const emails = commits.flatMap(({ author, committer }) => [author.email, committer.email])
  const addresses = emails.map((email) => email.replaceAll('\0', '').toLowerCase())
  const ids = addresses.map((address) => Number(/^(\d{1,15})\+[^@]*@users\.noreply\.localhost$/.exec(address)?.[1] ?? 0))
  // Several accounts may name an address. It belongs to the account it is verified for, or else to the first that claimed it.
  const people = await db.rows<Person & { address: string | null }>(sql`
    select ${personColumns}, w.address from unnest(${[...new Set(addresses)]}::text[]) as w (address)
      cross join lateral (
        select b.* from accounts b where b.type = 'User' and lower(b.email) = w.address
        order by b.email_verified desc, b.email_claimed_at, b.id limit 1) a
    union all
    select ${personColumns}, null from accounts a where a.type = 'User' and a.id = any(${[...new Set(ids)]})`)
  const found = addresses.map((address, index) => people.find((person) => person.id === ids[index] || person.address === address))
  return commits.map((_, index) => ({ author: found[2 * index], committer: found[2 * index + 1] }))
}
