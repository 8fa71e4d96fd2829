import { type Database, type Queryable, raw, type Sql, sql } from '#platform/database.ts'

/** A stored count, which triggers keep, and what it counts: rows of `id` and `total`. */
interface Counter {
  table: 'repositories' | 'issues' | 'milestones'
  column: string
  counted: Sql
}

const counters: Counter[] = [
  {
    table: 'repositories',
    column: 'stargazers_count',
    counted: sql`select repo_id as id, count(*) as total from stars group by repo_id`,
  },
  {
    table: 'repositories',
    column: 'subscribers_count',
    counted: sql`select repo_id as id, count(*) as total from subscriptions where not ignored group by repo_id`,
  },
  {
    table: 'repositories',
    column: 'open_issues_count',
    counted: sql`select repo_id as id, count(*) as total from issues where state = 'open' group by repo_id`,
  },
  {
    table: 'repositories',
    column: 'public_forks_count',
    counted: sql`select parent_id as id, count(*) as total from repositories where not private and parent_id is not null group by parent_id`,
  },
  {
    table: 'issues',
    column: 'comments_count',
    counted: sql`select issue_id as id, count(*) as total from comments group by issue_id`,
  },
  ...(['open', 'closed'] as const).map(
    (state): Counter => ({
      table: 'milestones',
      column: `${state}_issues`,
      counted: sql`select milestone_id as id, count(*) as total from issues where state = ${state} and milestone_id is not null group by milestone_id`,
    }),
  ),
]

export interface WrongCounter {
  counter: string
  rows: number
  /** An example. */
  id: number
  stored: number
  counted: number
}

/** Counters that differ from a recount. Each is compared within one statement, so concurrent changes do not matter. */
export async function findWrongCounters(db: Queryable): Promise<WrongCounter[]> {
  const found: WrongCounter[] = []
  for (const counter of counters) {
    const [first] = await db.rows<{ id: number; stored: number; counted: number; rows: number }>(
      sql`${wrongRows(counter)} order by t.id limit 1`,
    )
    if (first) found.push({ counter: `${counter.table}.${counter.column}`, ...first })
  }
  return found
}

function wrongRows({ table, column, counted }: Counter): Sql {
  return sql`
    select t.id, t.${raw(column)}::bigint as stored, coalesce(c.total, 0)::bigint as counted, count(*) over () as rows
    from ${raw(table)} t left join (${counted}) c on c.id = t.id where t.${raw(column)} <> coalesce(c.total, 0)`
}

/** Sets wrong counters to what is counted. Returns the number of changed rows. */
export async function repairCounters(db: Database): Promise<number> {
  let changed = 0
  for (const { table, column, counted } of counters) {
    changed += await db.transaction(async (transaction) => {
      const wrong = await transaction.rows<{ id: number }>(
        sql`select id from (${wrongRows({ table, column, counted })}) wrong order by id`,
      )
      if (!wrong.length) return 0
      const ids = wrong.map(({ id }) => id)
      // The lock comes before the count: a change that is not counted here waits for it, and is added after it.
      await transaction.query(sql`select from ${raw(table)} where id = any(${ids}::bigint[]) order by id for no key update`)
      const { rowCount } = await transaction.query(sql`
        update ${raw(table)} t set ${raw(column)} = coalesce(c.total, 0)
        from unnest(${ids}::bigint[]) wrong (id) left join (${counted}) c on c.id = wrong.id
        where t.id = wrong.id and t.${raw(column)} <> coalesce(c.total, 0)`)
      return rowCount ?? 0
    })
  }
  return changed
}
