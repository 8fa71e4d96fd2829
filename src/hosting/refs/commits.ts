import {
  type CommitObject,
  findRef,
  hasRefs,
  listBranchRefs,
  listTagCommits,
  type Ref,
  readCommit,
  resolveCommit,
} from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import { protectedBranches } from '#hosting/protection/protected-branches.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Wire } from '#http/serialization.ts'
import { type Person, personColumns } from '#identity/accounts.ts'
import { type Queryable, type Sql, sql } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import type { Listed, Slice } from '#platform/listed.ts'
import { type Authors, commitJson, shortName, type TagCommit } from './json.ts'

/** Branches by name; with `only`, those that are protected or those that are not. */
export async function listBranches(
  db: Queryable,
  storage: Storage,
  repo: Repository,
  only: '' | 'true' | 'false',
  { limit, offset }: Slice,
): Promise<Listed<Ref>> {
  const all = await listBranchRefs(storage, repo.id)
  const guarded = only && (await protectedBranches(db, repo))
  const refs = guarded ? all.filter((ref) => guarded.has(shortName(ref)) === (only === 'true')) : all
  return { rows: refs.slice(offset, offset + limit), total: refs.length }
}

export async function listTags(storage: Storage, repo: Repository, { limit, offset }: Slice): Promise<Listed<TagCommit>> {
  const tags = await listTagCommits(storage, repo.id)
  return { rows: tags.slice(offset, offset + limit), total: tags.length }
}

export async function loadBranch(storage: Storage, repo: Repository, name: string): Promise<Ref> {
  const branch = await findRef(storage, repo.id, `refs/heads/${name}`)
  if (!branch) throw new Refusal('missing', 'Branch not found')
  return branch
}

/** Finds a commit by branch, tag, or abbreviated id. */
export async function loadCommit(storage: Storage, repo: Repository, name: string): Promise<CommitObject> {
  return readCommit(storage, repo.id, await findCommit(storage, repo, name))
}

/** The id of a commit, by branch, tag, or abbreviated id. */
export async function findCommit(storage: Storage, repo: Repository, name: string): Promise<string> {
  const sha = await resolveCommit(storage, repo.id, name)
  if (sha) return sha
  if (!(await hasRefs(storage, repo.id, 'refs/'))) throw new Refusal('conflict', 'Git Repository is empty.')
  throw new Refusal('invalid', `No commit found for SHA: ${name}`)
}

/** The accounts of a commit's email addresses: verified addresses, or the no-reply address, see authorOf. */
export async function findAuthors(db: Queryable, commit: CommitObject): Promise<Authors> {
  const [authors = {}] = await findAllAuthors(db, [commit])
  return authors
}

/**
 * The id of the account that an address in lower case belongs to. Several accounts may list it: it belongs to the account that verified it, or
 * else to the first that listed it.
 */
export const ownerOfAddress = (address: Sql) => sql`(
  select id from (
    select id, email_verified as verified, email_claimed_at as claimed_at from accounts where type = 'User' and lower(email) = ${address}
    union all select user_id, false, claimed_at from emails where lower(email) = ${address}) c
  order by verified desc, claimed_at, id limit 1)`

/** The same for many commits, in their order. */
export async function findAllAuthors(
  db: Queryable,
  commits: { author: { email: string }; committer: { email: string } }[],
): Promise<Authors[]> {
  const emails = commits.flatMap(({ author, committer }) => [author.email, committer.email])
  const addresses = emails.map((email) => email.replaceAll('\0', ''))
  const ids = addresses.map((address) => Number(/^(\d{1,15})\+[^@]*@users\.noreply\.localhost$/i.exec(address)?.[1] ?? 0))
  const people = await db.rows<Person & { address: string | null }>(sql`
    select ${personColumns}, w.address from unnest(${[...new Set(addresses)]}::text[]) as w (address)
      join accounts a on a.id = ${ownerOfAddress(sql`lower(w.address)`)}
    union all
    select ${personColumns}, null from accounts a where a.type = 'User' and a.id = any(${[...new Set(ids)]})`)
  const found = addresses.map((address, index) => people.find((person) => person.id === ids[index] || person.address === address))
  return commits.map((_, index) => ({ author: found[2 * index], committer: found[2 * index + 1] }))
}

/** How many comments these commits have. A commit without comments is not in the map. */
export async function countComments(db: Queryable, repo: { id: number }, shas: string[]): Promise<Map<string, number>> {
  const counts = await db.rows<{ commit_id: string; comments: number }>(sql`
    select commit_id, count(*) as comments from commit_comments
    where repo_id = ${repo.id} and commit_id = any(${shas}) group by commit_id`)
  return new Map(counts.map((row) => [row.commit_id, row.comments]))
}

/** Commits as JSON, with the accounts of their authors and the number of their comments. */
export async function writeCommits(db: Queryable, commits: CommitObject[], repo: Repository, wire: Wire) {
  const authors = await findAllAuthors(db, commits)
  const comments = await countComments(
    db,
    repo,
    commits.map(({ sha }) => sha),
  )
  return commits.map((commit, index) => commitJson(commit, { ...authors[index], comments: comments.get(commit.sha) }, repo, wire))
}

/** One commit as JSON. */
export async function writeCommit(db: Queryable, commit: CommitObject, repo: Repository, wire: Wire) {
  const [written] = await writeCommits(db, [commit], repo, wire)
  return written ?? commitJson(commit, {}, repo, wire)
}
