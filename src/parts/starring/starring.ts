import { publishChange } from '#activity/publish.ts'
import { countNetworks, findTemplates } from '#hosting/repositories/forks.ts'
import { forkedColumn, listRepositories, type Repository } from '#hosting/repositories/repositories.ts'
import { type Account, type Person, personColumns, type Viewer } from '#identity/accounts.ts'
import { type Database, type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import type { Listed, Slice } from '#platform/listed.ts'

/** Starring again changes nothing and publishes nothing. */
export function star(db: Database | Transaction, user: Account, repo: Repository) {
  const change = (condition: Sql) => sql`
    insert into stars (user_id, repo_id, starred_at) select ${user.id}, ${repo.id}, ${db.now}::timestamptz where ${condition}
    on conflict do nothing`
  return publishChange(db, user, repo, change, { act: 'repo.starred' })
}

export function unstar(db: Database | Transaction, user: Account, repo: Repository) {
  const change = (condition: Sql) => sql`delete from stars where user_id = ${user.id} and repo_id = ${repo.id} and ${condition}`
  return publishChange(db, user, repo, change, { act: 'repo.unstarred' })
}

export async function hasStarred(db: Queryable, user: Account, repo: Repository): Promise<boolean> {
  const { rowCount } = await db.query(sql`select from stars where user_id = ${user.id} and repo_id = ${repo.id}`)
  return rowCount === 1
}

export interface Stargazer extends Person {
  starred_at: Date
}

/** Pages beyond this are refused, because the cost of a page grows with its offset. */
export const mostStargazers = 40_000

/** Oldest first, so that new stars do not shift the pages. */
export async function listStargazers(db: Queryable, repo: Repository, { limit, offset }: Slice): Promise<Listed<Stargazer>> {
  if (offset >= mostStargazers) {
    throw new Refusal('invalid', 'In order to keep the API fast for everyone, pagination is limited for this resource.')
  }
  const rows = await db.genericPlanRows<Stargazer>(sql`
    select ${personColumns}, s.starred_at
    from (select user_id, starred_at from stars where repo_id = ${repo.id} order by starred_at, user_id limit ${limit} offset ${offset}) s
    join accounts a on a.id = s.user_id order by s.starred_at, s.user_id`)
  return { rows, total: Math.min(repo.stargazers_count, mostStargazers) }
}

export interface StarredRepository extends Repository {
  starred_at: Date
  network_count: number
  template: Repository | undefined
}

const orders: Record<string, Sql> = {
  'created desc': sql`s.starred_at desc, s.repo_id desc`,
  'created asc': sql`s.starred_at, s.repo_id`,
  'updated desc': sql`r.pushed_at desc nulls last, r.id desc`,
  'updated asc': sql`r.pushed_at nulls first, r.id`,
}

/** The starred repositories of a user that the viewer may see, by the time of the star or of the last push. */
export async function listStarred(
  db: Queryable,
  viewer: Viewer,
  user: Account,
  { sort, direction }: { sort: string; direction: string },
  slice: Slice,
): Promise<Listed<StarredRepository>> {
  const { rows, total } = await listRepositories<{ starred_at: Date }>(
    db,
    viewer,
    sql`s.user_id = ${user.id}`,
    orders[`${sort} ${direction}`] ?? sql`s.repo_id`,
    slice,
    {
      columns: sql`, s.starred_at, ${forkedColumn}`,
      among: sql`stars s`,
      indexed: sort === 'created',
    },
  )
  const counts = await countNetworks(db, viewer, rows)
  const templates = await findTemplates(db, viewer, rows)
  const related = (row: Repository) => ({
    network_count: counts.get(row.network_id) ?? 1,
    template: templates.get(row.template_id ?? 0),
  })
  return { rows: rows.map((row) => ({ ...row, ...related(row) })), total }
}
