import { type Database, type Queryable, sql } from '#platform/database.ts'
import { type EventRow, withNames } from './event-rows.ts'
import { isShown, type View } from './shown.ts'
import type { Timeline } from './timelines.ts'

/** A position in the log; the client has all events up to it. */
interface LogPosition {
  position: number
  id: number
}

const lastId = Number.MAX_SAFE_INTEGER

/**
 * The events after a position in the log, oldest first. An event gets its id before its transaction ends, so a late commit may bring a lower id
 * than those already sent. Therefore the order is that of transactions, and an event is shown only when all earlier transactions have ended.
 * `since` is the id of an event, a bookmark from an earlier call, or null to start now.
 */
export async function readEventsAfter(db: Database, timeline: Timeline, view: View, since: string | null, limit: number) {
  const { position, id } = await findPosition(db, since)
  const { until } = view
  const delayed = until
    ? sql`least(log_horizon(), (select min(position) from events where created_at > ${until}))`
    : sql`log_horizon()`
  const rows = await db.customPlanRows<EventRow & { position: number | null; bound: number }>(sql`
    with settled as materialized (select ${delayed} as bound)
    select settled.bound, news.* from settled left join lateral (
      ${withNames(sql`
        select e.* from events e
        where (e.position, e.id) > (${position}, ${id}) and e.position < settled.bound and ${timeline.condition} and ${isShown(view, timeline.fixed)}
        order by e.position, e.id limit ${limit}`)}) news on true
    order by news.position, news.id`)
  const events = rows.filter((row) => row.position !== null)
  const last = events.length === limit ? events.at(-1) : undefined
  const end = last?.position
    ? { position: last.position, id: last.id }
    : { position: Math.max(position, (rows[0]?.bound ?? 0) - 1), id: lastId }
  return { events: events as EventRow[], bookmark: `${end.position}.${end.id}` }
}

async function findPosition(db: Queryable, since: string | null): Promise<LogPosition> {
  const [, position, id] = /^(\d{1,16})\.(\d{1,16})$/.exec(since ?? '') ?? []
  if (position && id) return { position: Number(position), id: Number(id) }
  const event_id = since !== null && /^\d{1,15}$/.test(since) ? Number(since) : null
  // If the event no longer exists, start with the first one after it: sending an event twice is better than never.
  const found = await db.first<LogPosition>(sql`
    (select position, id from events where id = ${event_id})
    union all (select min(position) - 1, ${lastId}::bigint from events where id > ${event_id} having min(position) is not null)
    union all (select log_horizon() - 1, ${lastId}::bigint) limit 1`)
  return found ?? { position: 0, id: 0 }
}
