import { type Database, type Sql, sql } from '#platform/database.ts'

/**
 * How far a stream has told. Rows are told in the order of the transactions that wrote them, of which each row keeps the number, and not
 * before every earlier one has ended, as in the log (see log_horizon): ids are given long before that.
 */
export interface StreamCursor {
  /** The last row told, or the first transaction that nothing is told of yet. */
  position: number
  id: number
  /** No row that is yet to be told has a lower id: where its index is entered. */
  lowest: number
  /** When all transactions before `asked` have ended, those that are not yet seen have ids above `given`. */
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

/** Where transactions stand: all before `horizon` have ended, none from `next` on has been seen. */
const moment = sql`
  select pg_snapshot_xmin(seen)::text::bigint + base as horizon, pg_snapshot_xmax(seen)::text::bigint + base as next, base
  from pg_current_snapshot() seen, log_base`

/** The number of the transaction that wrote a row `d`: the row has its last 32 bits. */
const position = sql`m.next - ((m.next - m.base - d.xmin::text::bigint) & 4294967295)`

const oldestWaiting = (hook_id: number) => sql`(select min(id) from pending_deliveries where hook_id = ${hook_id})`

/** From now on, or from the first that waits. */
export async function openStreamCursor(db: Database, hook: { id: number }, from: 'now' | 'what waits'): Promise<StreamCursor> {
  const given = await readGiven(db)
  const row = await db.first<{ next: number; lowest: number }>(sql`
    select next, least(${oldestWaiting(hook.id)}, (delivery_day(${db.now}) - 1) << 36) as lowest from (${moment}) m`)
  const { next, lowest } = row ?? { next: 0, lowest: 0 }
  return { position: from === 'now' ? next : 0, id: 0, lowest, asked: next, given }
}

/**
 * Whatever transaction comes from now on, its ids are higher. Two margins: clocks of nodes differ, so that one may still be at yesterday;
 * and a number may be taken a moment before the transaction that takes it has its own.
 */
async function readGiven(db: Database): Promise<number> {
  const earlier = new Date(db.now.getTime() - 3_600_000)
  const row = await db.first<{ given: number }>(sql`
    select (delivery_day(${earlier}) << 36) + (greatest(last_value - 1000, 0) & ((1::bigint << 36) - 1)) as given from delivery_numbers`)
  return row?.given ?? 0
}

/** A row that may be told. */
export interface Found {
  id: number
  position: number
  size: number
}

/** So many are told at a time, and no more bytes than this, unless it is a single one. */
const most = 100
const mostBytes = 4 * 1024 * 1024

/** What of `source`, rows `d`, comes after a bookmark, in order; and the bookmark to go on from. */
export async function readAfter(db: Database, hook: { id: number }, from: StreamCursor, source: Sql) {
  // Before the snapshot of what follows: what is given in between counts as later.
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
  // A place that is yet to come is that of another server.
  if (from.position > next || from.asked > next) return { found: [], end: await openStreamCursor(db, hook, 'now') }
  const seen = rows.filter((row): row is typeof row & Found => typeof row.id === 'number')
  const settled = seen.filter((row) => row.position < horizon)
  const found = withinBounds(settled)
  if (found.length < settled.length || seen.length > most) return { found, end: { ...from, ...found.at(-1) } }
  const later = seen.slice(settled.length).map(({ id }) => id)
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
