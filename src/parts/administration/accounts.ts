import { type Account, accountColumns } from '#identity/accounts.ts'
import { type Queryable, type Sql, sql } from '#platform/database.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import type { Totals } from './views/overview.ts'

export const userFilters = { all: 'All', site_admins: 'Site admins', suspended: 'Suspended', dormant: 'Never signed in' } as const
export type UserFilter = keyof typeof userFilters

export interface ListedAccount extends Account {
  repositories: number
  members: number
}

const conditions: Record<UserFilter, Sql> = {
  all: sql`true`,
  site_admins: sql`a.site_admin`,
  suspended: sql`a.suspended_at is not null`,
  dormant: sql`not exists (select from sessions s where s.user_id = a.id) and not exists (select from tokens t where t.user_id = a.id)`,
}

/** Accounts of one type by login. `words` is the beginning of a login or name. */
export function listAccounts(
  db: Queryable,
  type: Account['type'],
  words: string,
  filter: UserFilter,
  slice: Slice,
): Promise<Listed<ListedAccount>> {
  const start = `${words.replaceAll(/[\\%_]/g, '\\$&')}%`
  const found = words
    ? sql`and (lower(a.login) like lower(${start}) or lower(a.name) like lower(${start}) or lower(a.email) like lower(${start}))`
    : sql``
  return listed(
    db,
    {
      columns: sql`${accountColumns}, (select count(*) from repositories r where r.owner_id = a.id)::int as repositories,
        (select count(*) from memberships m where m.org_id = a.id)::int as members`,
      source: sql`accounts a where a.type = ${type} and ${conditions[filter]} ${found}`,
      order: sql`lower(a.login)`,
    },
    slice,
  )
}

export interface ListedRepository {
  id: number
  owner_login: string
  name: string
  private: boolean
  archived: boolean
  size: number
  pushed_at: Date | null
  created_at: Date
}

/** All repositories, by size, the largest first: administrators look here when a disk fills. */
export function listAllRepositories(db: Queryable, words: string, slice: Slice): Promise<Listed<ListedRepository>> {
  const start = `${words.replaceAll(/[\\%_]/g, '\\$&')}%`
  const found = words ? sql`where lower(r.name) like lower(${start}) or lower(o.login) like lower(${start})` : sql``
  return listed(
    db,
    {
      columns: sql`r.id, o.login as owner_login, r.name, r.private, r.archived, r.size, r.pushed_at, r.created_at`,
      source: sql`repositories r join accounts o on o.id = r.owner_id ${found}`,
      order: sql`r.size desc, r.id`,
    },
    slice,
  )
}

/** Large tables are counted by the planner's estimate, because a count of ten million rows takes seconds. */
export async function readTotals(db: Queryable): Promise<Totals> {
  return db.load<Totals>(sql`
    select (select count(*) from accounts where type = 'User')::int as users,
      (select count(*) from accounts where suspended_at is not null)::int as suspended,
      (select count(*) from accounts where type = 'Organization')::int as organizations,
      count(*)::int as repositories, coalesce(sum(r.size), 0)::bigint * 1000 as storage_bytes,
      ${estimated('issues')} - ${estimated('pulls')} as issues, ${estimated('pulls')} as pulls,
      (select count(*) from hooks where deleted_at is null)::int as hooks,
      (select count(*) from imports where status in ('detecting', 'importing', 'mapping', 'pushing'))::int as imports_running,
      pg_database_size(current_database())::bigint as database_bytes
    from repositories r`)
}

/** An exact count while the table is small. */
const estimated = (table: 'issues' | 'pulls') => {
  const counted = table === 'issues' ? sql`select from issues limit 100000` : sql`select from pulls limit 100000`
  return sql`greatest((select count(*) from (${counted}) counted), (select reltuples from pg_class where oid = ${table}::regclass))::int`
}
