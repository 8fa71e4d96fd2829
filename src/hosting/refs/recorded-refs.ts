import type { Repository } from '#hosting/repositories/repositories.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

type RefKind = 'heads' | 'tags'

/** The objects of these refs, by their full names, as the last recorded push left them: without starting git. */
export async function findRecordedRefs(db: Queryable, repo: { id: number }, names: string[]): Promise<Map<string, string>> {
  const rows = await db.rows<{ name: string; sha: string }>(
    sql`select name, sha from refs where repo_id = ${repo.id} and name = any(${names})`,
  )
  return new Map(rows.map(({ name, sha }) => [name, sha]))
}

/** Counted up to this number. */
export const mostCounted = 10_000

export interface RefNames {
  branches: string[]
  tags: string[]
  /** Up to `mostCounted`. */
  branches_count: number
  tags_count: number
}

/** The first branches by name, the last tags by name, and how many there are. */
export async function listRefNames(db: Queryable, repo: Repository, most: number): Promise<RefNames> {
  const names = (kind: RefKind) => {
    const prefix = `refs/${kind}/`
    return sql`select substr(name, ${prefix.length + 1}) as name from refs where repo_id = ${repo.id} and starts_with(name, ${prefix})`
  }
  const [row] = await db.rows<RefNames>(sql`
    select array(${names('heads')} order by name limit ${most}) as branches,
      array(${names('tags')} order by name desc limit ${most}) as tags,
      (select count(*) from (${names('heads')} limit ${mostCounted}) b)::int as branches_count,
      (select count(*) from (${names('tags')} limit ${mostCounted}) t)::int as tags_count`)
  if (!row) throw new Error('a statement without a condition returned no row')
  return row
}

export interface RecordedBranch {
  name: string
  sha: string
}

/** Branches whose names contain the text, by name; without the default branch. */
export function searchBranches(db: Queryable, repo: Repository, words: string, slice: Slice): Promise<Listed<RecordedBranch>> {
  const matches = words ? sql`position(lower(${words}) in lower(substr(name, 12))) > 0` : sql`true`
  const source = sql`refs where repo_id = ${repo.id} and starts_with(name, 'refs/heads/') and name <> ${`refs/heads/${repo.default_branch}`} and ${matches}`
  return listed(db, { columns: sql`substr(name, 12) as name, sha`, source, order: sql`name` }, slice)
}

/** The former name of a branch among these names, and its present one. */
export function findRenamedBranch(db: Queryable, repo: { id: number }, names: string[]) {
  return db.first<{ name: string; branch: string }>(sql`
    select name, branch from branch_redirects where repo_id = ${repo.id} and name = any(${names}) limit 1`)
}
