import { type Database, type Queryable, sql } from '#platform/database.ts'
import { isShown, type Timeline, type TimelineEvent, type View, visibilityJoins, withNames } from './timelines.ts'

/** A place in the log: everything up to it has been seen. */
interface LogPosition {
  position: number
  id: number
}

const lastId = Number.MAX_SAFE_INTEGER

/**
 * What came after a place in the log, oldest first. Ids are given before transactions end, so one that ends late may bring a lower id
 * than those already seen: the order is that of transactions, and only what every earlier one has had its say about is shown.
 * `since` is an event's id, a bookmark that was given before, or null: from now on.
 */
export async function readEventsAfter(db: Database, timeline: Timeline, view: View, since: string | null, limit: number) {
  const { position, id } = await findPosition(db, since)
  const { until } = view
  const delayed = until
    ? sql`least(log_horizon(), (select min(position) from events where created_at > ${until}))`
    : sql`log_horizon()`
  const rows = await db.customPlanRows<TimelineEvent & { position: number | null; bound: number }>(sql`
    with settled as materialized (select ${delayed} as bound)
    select settled.bound, news.* from settled left join lateral (
      ${withNames(sql`
        select e.* from events e ${visibilityJoins}
        where (e.position, e.id) > (${position}, ${id}) and e.position < settled.bound and ${timeline.condition} and ${isShown(view)}
        order by e.position, e.id limit ${limit}`)}) news on true
    order by news.position, news.id`)
  const events = rows.filter((row) => row.position !== null)
  const last = events.length === limit ? events.at(-1) : undefined
  const end = last?.position
    ? { position: last.position, id: last.id }
    : { position: Math.max(position, (rows[0]?.bound ?? 0) - 1), id: lastId }
  return { events: events as TimelineEvent[], bookmark: `${end.position}.${end.id}` }
}

async function findPosition(db: Queryable, since: string | null): Promise<LogPosition> {
  const [, position, id] = /^(\d{1,16})\.(\d{1,16})$/.exec(since ?? '') ?? []
  if (position && id) return { position: Number(position), id: Number(id) }
  const event_id = since !== null && /^\d{1,15}$/.test(since) ? Number(since) : null
  // An event that is not there any more: from the first that came after it, rather once too often than never.
  const found = await db.first<LogPosition>(sql`
    (select position, id from events where id = ${event_id})
    union all (select min(position) - 1, ${lastId}::bigint from events where id > ${event_id} having min(position) is not null)
    union all (select log_horizon() - 1, ${lastId}::bigint) limit 1`)
  return found ?? { position: 0, id: 0 }
}
