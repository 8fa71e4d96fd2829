import { type Database, type Sql, sql } from '#platform/database.ts'
import { mostEvents } from '#variants.ts'

/** For how long a timeline of the greatest length is not counted again. In milliseconds. */
const trusted = 60_000
const mostKept = 10_000

/**
 * When each timeline was last found to have the greatest length. Timelines rarely become shorter, and counting 300 events takes three times as
 * long as reading 30. If one does become shorter, the link to the last page is wrong for up to a minute.
 */
const full = new WeakMap<Database, Map<string, number>>()

/** Counts the events of a query, which returns at most `mostEvents`. */
export async function countEvents(db: Database, events: Sql): Promise<number> {
  const known = full.get(db) ?? new Map<string, number>()
  full.set(db, known)
  // Dates differ from request to request, and do not identify a timeline.
  const key = `${events.text} ${events.values.filter((value) => !(value instanceof Date))}`
  const now = db.now.getTime()
  if (Math.abs(now - (known.get(key) ?? 0)) < trusted) return mostEvents
  const [counted] = await db.genericPlanRows<{ total: number }>(sql`select count(*) as total from (${events}) counted`)
  const total = counted?.total ?? 0
  if (known.size >= mostKept) known.clear()
  if (total === mostEvents) known.set(key, now)
  return total
}
