import { type Database, type Sql, sql } from '#platform/database.ts'

/**
 * The position of a stream. Rows are sent in the order of the transactions that wrote them (their xmin), and only after all earlier
 * transactions have ended, as in the log (see log_horizon). Ids do not give this order, because they are assigned before the commit.
 */
export interface StreamCursor {
  /** The transaction and id of the last row sent; or the first transaction of which no row was sent, with id 0. */
  position: number
  id: number
  /** No row that is still to be sent has a lower id: the start of the index scan. */
  lowest: number
  /** Once all transactions before `asked` have ended, rows that are not visible yet have ids above `given`. */
  asked: number
  given: number
}

export function formatStreamCursor({ position, id, lowest, asked, given }: StreamCursor): string {
  return [position, id, lowest, asked, given].join('.')
}

export function parseStreamCursor(text: string | null): StreamCursor | undefined {
  if (!/^\d{1,15}(\.\d{1,15}){4}$/.test(text ?? '')) return undefined
  const [position = 0, id = 0, lowest = 0, asked = 0, given = 0] = (text ?? '').split('.').map(Number)
  return { position, id, lowest, asked, given }
}

/**
 * All transactions before `horizon` have ended; those from `next` on are not visible. The limit tells the planner that there is one row:
 * `log_base` is never analyzed, and it would plan the join with the payloads for 2,260.
 */
const moment = sql`
  select pg_snapshot_xmin(current)::text::bigint + base as horizon, pg_snapshot_xmax(current)::text::bigint + base as next, base
  from pg_current_snapshot() current, (select base from log_base limit 1) log`

/** The number of the transaction that wrote a row `d`. xmin has its last 32 bits. */
const position = sql`m.next - ((m.next - m.base - d.xmin::text::bigint) & 4294967295)`

const oldestWaiting = (hook_id: number) => sql`(select min(id) from pending_deliveries where hook_id = ${hook_id})`

export async function openStreamCursor(db: Database, hook: { id: number }, from: 'now' | 'pending'): Promise<StreamCursor> {
  const given = await readGiven(db)
  const row = await db.first<{ next: number; lowest: number }>(sql`
    select next, least(${oldestWaiting(hook.id)}, (delivery_day(${db.now}) - 1) << 36) as lowest from (${moment}) m`)
  const { next, lowest } = row ?? { next: 0, lowest: 0 }
  return { position: from === 'now' ? next : 0, id: 0, lowest, asked: next, given }
}

/**
 * All transactions that start from now on have higher ids. An hour and 1000 numbers are the margins, because another node's clock may
 * still show yesterday, and a transaction may take an id before it gets its own number.
 */
async function readGiven(db: Database): Promise<number> {
  const earlier = new Date(db.now.getTime() - 3_600_000)
  const row = await db.first<{ given: number }>(sql`
    select (delivery_day(${earlier}) << 36) + (greatest(last_value - 1000, 0) & ((1::bigint << 36) - 1)) as given from delivery_numbers`)
  return row?.given ?? 0
}

export interface Found {
  id: number
  position: number
  size: number
}

/** The limits of one batch. A single row may have more bytes. */
const most = 100
const mostBytes = 4 * 1024 * 1024

/** The rows `d` of `source` after a cursor, in order, and the next cursor. */
export async function readAfter(db: Database, hook: { id: number }, from: StreamCursor, source: Sql) {
  // Read before the snapshot of the next query, so that ids assigned in between count as later.
  const given = await readGiven(db)
  const rows = await db.rows<Partial<Found> & { horizon: number; next: number; waiting: number | null }>(sql`
    with m as materialized (${moment})
    select m.horizon, m.next, ${oldestWaiting(hook.id)} as waiting, d.id, d.position, octet_length(p.body) as size
    from m left join lateral (
      select d.id, d.payload_id, ${position} as position from ${source} and (${position}, d.id) > (${from.position}, ${from.id})
      order by position, d.id limit ${most + 1}
    ) d on true left join payloads p on p.id = d.payload_id
    order by d.position, d.id`)
  const { horizon = 0, next = 0, waiting = null } = rows[0] ?? {}
  // A cursor from the future comes from another server.
  if (from.position > next || from.asked > next) return { found: [], end: await openStreamCursor(db, hook, 'now') }
  const visible = rows.filter((row): row is typeof row & Found => typeof row.id === 'number')
  const settled = visible.filter((row) => row.position < horizon)
  const found = withinBounds(settled)
  if (found.length < settled.length || visible.length > most) return { found, end: { ...from, ...found.at(-1) } }
  const later = visible.slice(settled.length).map(({ id }) => id)
  const reached = horizon >= from.asked
  const lowest = reached ? Math.min(from.given, waiting ?? from.given, ...later) : from.lowest
  const end = { ...from, position: Math.max(horizon, from.position), id: 0, lowest, ...(reached && { asked: next, given }) }
  return { found, end }
}

function withinBounds(rows: Found[]): Found[] {
  let bytes = 0
  const end = rows.findIndex(({ size }, index) => {
    bytes += size ?? 0
    return index === most || (index > 0 && bytes > mostBytes)
  })
  return end < 0 ? rows : rows.slice(0, end)
}
