import { type Queryable, type Row, type Sql, sql } from './database.ts'

export interface Slice {
  limit: number
  offset: number
}

/** One page of rows, and the number of rows on all pages. */
export interface Listed<R> {
  rows: R[]
  total: number
}

export interface ListQuery {
  columns: Sql
  source: Sql
  order: Sql
  /** The same rows as `source`, without the joins that only `columns` needs. */
  counted?: Sql
  /** An index has the list in its order, see Database.genericPlanRows. */
  indexed?: boolean
}

/**
 * One statement reads a page and one row more. That row has the number of all rows, which is counted only if the page has a next one.
 */
export async function listed<R extends Row>(
  db: Queryable,
  { columns, source, order, counted = source, indexed = false }: ListQuery,
  { limit, offset }: Slice,
): Promise<Listed<R>> {
  const statement = sql`
    select page.*, case when row_number() over () > ${limit} then (select count(*) from ${counted}) end as all_rows
    from (select ${columns} from ${source} order by ${order} limit ${limit + 1} offset ${offset}) page`
  type Found = R & { all_rows: number | null }
  const found = await (indexed ? db.genericPlanRows<Found>(statement) : db.rows<Found>(statement))
  const rows: R[] = found.slice(0, limit)
  if (found.length || offset === 0) return { rows, total: found[limit]?.all_rows ?? offset + found.length }
  // A page past the end says nothing about the number of rows.
  const count = await db.first<{ total: number }>(sql`select count(*) as total from ${counted}`)
  return { rows, total: count?.total ?? 0 }
}
