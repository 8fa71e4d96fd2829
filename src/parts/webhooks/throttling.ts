import { type Database, type Sql, sql } from '#platform/database.ts'

/** After so many failures in a row a receiver is left in peace: for a second at first, then twice as long each time. */
export const failureThreshold = 10
const longest = 600

/** How many seconds, after so many failures. */
export const throttleSeconds = (failures: Sql) =>
  sql`least(2 ^ least(${failures} - ${failureThreshold}::integer, 20), ${longest}::integer)`

/** Puts back what was taken for a hook that is left in peace, until that time is over. It is noted when that was first so. */
export async function postponeDeliveries(db: Database, ids: number[], until: Date) {
  await db.query(sql`
    update pending_deliveries set sender = null, ready_at = ${until}, throttled_at = coalesce(throttled_at, ${db.now}) where id = any(${ids})`)
}
