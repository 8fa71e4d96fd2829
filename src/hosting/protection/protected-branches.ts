import { type Queryable, sql } from '#platform/database.ts'

/** Which of these branches are protected. */
export async function protectedAmong(db: Queryable, repo: { id: number }, branches: string[]): Promise<Set<string>> {
  if (!branches.length) return new Set()
  const rows = await db.rows<{ branch: string }>(sql`
    select branch from branch_protections where repo_id = ${repo.id} and branch = any(${branches})`)
  return new Set(rows.map(({ branch }) => branch))
}

export async function protectedBranches(db: Queryable, repo: { id: number }): Promise<Set<string>> {
  const rows = await db.rows<{ branch: string }>(sql`select branch from branch_protections where repo_id = ${repo.id}`)
  return new Set(rows.map(({ branch }) => branch))
}
