import { type Database, type Sql, sql } from '#platform/database.ts'
import { mostEvents } from '#variants.ts'

/** How long a timeline that was full is taken to be so without counting. In milliseconds. */
const trusted = 60_000
const mostKept = 10_000

/**
 * When timelines were last found to go on for as long as anyone may page. They hardly ever get shorter, and counting 300 events takes three
 * times as long as reading 30; what can be wrong for a minute is the address of the last page.
 */
const full = new WeakMap<Database, Map<string, number>>()

/** How many events there are in a statement's result, which has no more than anyone may page through. */
export async function countEvents(db: Database, events: Sql): Promise<number> {
  const known = full.get(db) ?? new Map<string, number>()
  full.set(db, known)
  // Dates move with every request, and do not tell one timeline from another.
  const key = `${events.text} ${events.values.filter((value) => !(value instanceof Date))}`
  const now = db.now.getTime()
  if (Math.abs(now - (known.get(key) ?? 0)) < trusted) return mostEvents
  const [counted] = await db.genericPlanRows<{ total: number }>(sql`select count(*) as total from (${events}) counted`)
  const total = counted?.total ?? 0
  if (known.size >= mostKept) known.clear()
  if (total === mostEvents) known.set(key, now)
  return total
}
