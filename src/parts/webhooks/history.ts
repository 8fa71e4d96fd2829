import { type Queryable, sql } from '#platform/database.ts'
import { notSent, notTaken } from './sending/failures.ts'

/** Statistics of the deliveries in an interval of time. Durations are in seconds. */
export interface Interval {
  succeeded: number
  failed: number
  median: number | null
  p95: number | null
  slowest: number | null
}

export interface History extends Interval {
  since: Date
  until: Date
  /** There were more deliveries than are counted: `since` is the time of the oldest one counted. */
  cut: boolean
  /** Intervals of equal length; null for one without deliveries. */
  intervals: (Interval | null)[]
}

/** The number of deliveries that are read, so that the page of a busy hook stays fast. */
const most = 5000

const second = 1000
export const spans = { day: { length: 86_400 * second, parts: 48 }, month: { length: 30 * 86_400 * second, parts: 30 } } as const
export type Span = keyof typeof spans

interface Counted extends Interval {
  part: number | null
  since: Date
  cut: boolean
}

/** Statistics of a hook's recent deliveries. The query uses the ids, which start with the day of creation. */
export async function readHistory(db: Queryable, hook: { id: number }, span: Span): Promise<History> {
  const { length, parts } = spans[span]
  const until = db.now
  const since = new Date(until.getTime() - length)
  const rows = await db.rows<Counted>(sql`
    with recent as materialized (
      -- A delivery that no listener took, or that was not sent, has no latency.
      select delivered_at, case when status not in (${notTaken.status}, ${notSent.status}) then duration end as duration, status_code from deliveries
      where hook_id = ${hook.id} and id >= (delivery_day(${since}) - 1) << 36 and delivered_at > ${since} and delivered_at <= ${until}
      order by id desc limit ${most}
    ), bounds as (
      select count(*) = ${most} as cut, case when count(*) = ${most} then min(delivered_at) else ${since}::timestamptz end as since from recent
    ), assigned as (
      select status_code < 400 as succeeded, duration, least(${parts - 1}, floor(${parts}::integer * extract(epoch from delivered_at - since)
        / greatest(extract(epoch from ${until}::timestamptz - since), 1)))::integer as part
      from recent, bounds
    )
    select part, (select since from bounds), (select cut from bounds),
      count(*) filter (where succeeded) as succeeded, count(*) filter (where not succeeded) as failed,
      percentile_disc(0.5) within group (order by duration) as median,
      percentile_disc(0.95) within group (order by duration) as p95, max(duration) as slowest
    from assigned group by grouping sets ((part), ())`)
  const { part: _, ...all } = rows.find(({ part }) => part === null) ?? { ...nothing, part: null, since, cut: false }
  const found = new Map(rows.map(({ part, since: __, cut: ___, ...interval }) => [part, interval]))
  return { ...all, until, intervals: Array.from({ length: parts }, (_, part) => found.get(part) ?? null) }
}

const nothing: Interval = { succeeded: 0, failed: 0, median: null, p95: null, slowest: null }

/** Pending deliveries, and how many of them are postponed because the receiver failed. */
export interface Waiting {
  waiting: number
  throttled: number
}

/** Pending deliveries are counted up to this number. */
export const mostWaiting = 1000

export async function readWaiting(db: Queryable, hook: { id: number }): Promise<Waiting> {
  const row = await db.first<Waiting>(sql`
    select count(*) as waiting, count(throttled_at) as throttled
    from (select throttled_at from pending_deliveries where hook_id = ${hook.id} limit ${mostWaiting + 1}) as counted`)
  return row ?? { waiting: 0, throttled: 0 }
}

/** A text that differs after any change to a hook's deliveries, because each outcome deletes a pending row. */
export async function readChangeMarker(db: Queryable, hook: { id: number }): Promise<string> {
  const row = await db.first<{ mark: string }>(sql`
    select concat_ws(' ', (select max(id) from deliveries where hook_id = ${hook.id}), count(*), sum(id), count(throttled_at),
      (select concat_ws(' ', updated_at, throttled_until, deleted_at) from hooks where id = ${hook.id})) as mark
    from (select id, throttled_at from pending_deliveries where hook_id = ${hook.id} order by id desc limit ${mostWaiting}) as counted`)
  return row?.mark ?? ''
}
