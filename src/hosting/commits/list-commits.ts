import { readingOf } from '#git/compare.ts'
import { countLog, type LogFilter, readLog } from '#git/log.ts'
import { type CommitObject, hasRefs, resolveCommit } from '#git/objects.ts'
import { type Reading, within } from '#git/run-git.ts'
import type { Storage } from '#git/storage.ts'
import { isPath } from '#hosting/contents/paths.ts'
import { ownerOfAddress } from '#hosting/refs/commits.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { ByteCache } from '#platform/byte-cache.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { missing, Refusal } from '#platform/errors.ts'
import { parseIsoDate } from '#platform/iso-date.ts'
import type { Listed, Slice } from '#platform/listed.ts'
import { trimBoth } from '#platform/trim.ts'

export interface CommitQuery {
  sha: string
  path: string
  author: string
  committer: string
  since: string
  until: string
}

const patience = 30_000
/** Commits of one author or path are counted up to this number, because git compares trees or texts to find them. */
const mostFiltered = 1000
const none: Listed<never> = { rows: [], total: 0 }

/** Commits from a branch, tag or commit back, newest first. */
export async function listCommits(
  db: Queryable,
  storage: Storage,
  repo: Repository,
  { sha, ...asked }: CommitQuery,
  slice: Slice,
): Promise<Listed<CommitObject>> {
  const start = await resolveCommit(storage, repo.id, sha || `refs/heads/${repo.default_branch}`)
  if (!start && !(await hasRefs(storage, repo.id, 'refs/'))) throw new Refusal('conflict', 'Git Repository is empty.')
  if (!start) throw missing()
  const filter = await readFilter(db, asked)
  if (!filter) return none
  return within(patience, async (signal) => {
    const reading = readingOf(storage, repo.id, repo.id, signal)
    // Git reads the number as an integer of 32 bits.
    const page = [`--skip=${Math.min(slice.offset, 2 ** 31 - 1)}`, `--max-count=${slice.limit + 1}`]
    const found = await readLog(reading, [start], page, filter)
    const isLast = found.length <= slice.limit && (found.length > 0 || slice.offset === 0)
    const total = isLast ? slice.offset + found.length : await count(reading, repo, start, filter)
    return { rows: found.slice(0, slice.limit), total }
  })
}

/** Undefined if no commit can match. */
async function readFilter(db: Queryable, { path, author, committer, since, until }: Omit<CommitQuery, 'sha'>) {
  const place = trimBoth(path, '/')
  if (place && !isPath(place)) return undefined
  const authors = author ? await signaturesOf(db, author) : undefined
  const committers = committer ? await signaturesOf(db, committer) : undefined
  if (authors?.length === 0 || committers?.length === 0) return undefined
  return {
    ...(authors && { authors }),
    ...(committers && { committers }),
    ...(place && { path: place }),
    since: parseIsoDate(since),
    until: parseIsoDate(until),
  } satisfies LogFilter
}

/** How an e-mail address, or the addresses of a login, begin in commits. */
export async function signaturesOf(db: Queryable, name: string): Promise<string[]> {
  // Git would read lines as several patterns.
  if (/\p{Cc}/u.test(name)) return []
  if (name.includes('@')) return [`<${name}>`]
  const user = await db.first<{ id: number; emails: string[] }>(sql`
    select a.id, array(
      select e.email from (select a.email union all select email from emails where user_id = a.id) e
      where ${ownerOfAddress(sql`lower(e.email)`)} = a.id) as emails
    from accounts a where a.type = 'User' and lower(a.login) = lower(${name})`)
  return user ? [`<${user.id}+`, ...user.emails.map((email) => `<${email}>`)] : []
}

/** The number of commits that a commit contains. */
export function countCommits(storage: Storage, repo: Repository, sha: string): Promise<number> {
  return within(patience, (signal) => count(readingOf(storage, repo.id, repo.id, signal), repo, sha, {}))
}

/** Numbers of commits. They never change, because the key contains the newest commit. */
const counts = new ByteCache<number>(1 << 20)

async function count(reading: Reading, repo: Repository, start: string, filter: LogFilter): Promise<number> {
  const key = JSON.stringify([repo.id, start, filter])
  const known = counts.get(key)
  if (known !== undefined) return known
  const filtered = filter.authors || filter.committers || filter.path
  const counted = await countLog(reading, [start], filtered ? mostFiltered : Infinity, filter)
  const total = filtered && counted === mostFiltered ? Infinity : counted
  counts.set(key, total, 2 * key.length + 100)
  return total
}
