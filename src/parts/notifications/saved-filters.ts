import { type Database, type Queryable, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { conditionsOf, listIn, readFilter } from './filters.ts'
import { countUnread } from './threads.ts'

/** A view of the inbox and the text of its filter box, by a name of the user's. */
export interface SavedFilter {
  id: number
  name: string
  view: string
  query: string
}

const mostFilters = 20
export const longestName = 60

export function listFilters(db: Queryable, user: { id: number }): Promise<SavedFilter[]> {
  return db.rows(sql`
    select id, name, view, query from inbox_filters where user_id = ${user.id} order by lower(name) limit ${mostFilters}`)
}

const invalidName = (message: string) => invalid({ resource: 'Filter', code: 'invalid', field: 'name', message })

function checkName(name: string) {
  if (name === '' || name.length > longestName) throw invalidName(`Give the filter a name of up to ${longestName} characters`)
}

/** A filter of the same name is replaced. */
export async function saveFilter(db: Transaction, user: { id: number }, { name, view, query }: Omit<SavedFilter, 'id'>) {
  checkName(name)
  await db.query(sql`select pg_advisory_xact_lock(hashtextextended('inbox_filters', ${user.id}))`)
  const { rowCount } = await db.query(sql`
    insert into inbox_filters (user_id, name, view, query)
    select ${user.id}, ${name}, ${view}, ${query}
    where (select count(*) from inbox_filters f where f.user_id = ${user.id} and lower(f.name) <> lower(${name})) < ${mostFilters}
    on conflict (user_id, lower(name)) do update set name = excluded.name, view = excluded.view, query = excluded.query`)
  if (!rowCount) throw invalidName(`You can save up to ${mostFilters} filters. Delete one first`)
}

export async function renameFilter(db: Transaction, user: { id: number }, id: number, name: string) {
  checkName(name)
  const { rowCount } = await db.query(sql`
    update inbox_filters f set name = ${name} where id = ${id} and user_id = ${user.id}
      and not exists (select from inbox_filters o where o.user_id = f.user_id and lower(o.name) = lower(${name}) and o.id <> f.id)`)
  if (rowCount) return
  await db.load(sql`select id from inbox_filters where id = ${id} and user_id = ${user.id}`)
  throw invalidName('Another filter has this name')
}

export async function deleteFilter(db: Transaction, user: { id: number }, id: number): Promise<SavedFilter> {
  const [gone] = await db.rows<SavedFilter>(
    sql`delete from inbox_filters where id = ${id} and user_id = ${user.id} returning id, name, view, query`,
  )
  if (!gone) throw missing()
  return gone
}

/** Unread threads by repository, and how many of them each filter matches; undefined for a filter that shows done or snoozed threads. */
export async function countByFilter(db: Database, user: { id: number }, filters: SavedFilter[]) {
  const searches = filters.map(({ view, query }) => {
    const search = readFilter(query)
    const counted = !listIn(search) && view !== 'done' && view !== 'snoozed'
    const inView = view === 'participating' ? sql`and t.reason <> 'subscribed'` : view === 'saved' ? sql`and t.saved` : sql``
    return counted ? conditionsOf(search).reduce((all, one) => sql`${all} ${one}`, inView) : undefined
  })
  const rows = await countUnread(
    db,
    user,
    searches.filter((search) => search !== undefined),
  )
  let index = 0
  const counts = searches.map((search) => {
    if (search === undefined) return undefined
    const place = index++
    return rows.reduce((sum, { matching }) => sum + (matching[place] ?? 0), 0)
  })
  return { repositories: rows, counts }
}
