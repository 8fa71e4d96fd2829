import { deliveriesTopic } from '#activity/outbox/outbox.ts'
import { type Database, type Sql, sql, type Transaction } from '#platform/database.ts'

/** After this many failures in a row, deliveries to a receiver are postponed: for a second at first, then twice as long each time. */
export const failureThreshold = 10
const longest = 600

/** The length of the pause in seconds, after so many failures. */
export const throttleSeconds = (failures: Sql) =>
  sql`least(2 ^ least(${failures} - ${failureThreshold}::integer, 20), ${longest}::integer)`

/** Releases claimed deliveries of a throttled hook until the pause ends. `throttled_at` keeps the first time. */
export async function postponeDeliveries(db: Database, ids: number[], until: Date) {
  await db.query(sql`
    update pending_deliveries set sender = null, ready_at = ${until}, throttled_at = coalesce(throttled_at, ${db.now}) where id = any(${ids})`)
}

interface ThrottleState {
  id: number
  failures: number
  throttled_until: Date | null
}

/**
 * Sends one delivery that a person asked for at once, although its receiver failed before. It is a trial: if it succeeds, all postponed
 * deliveries follow; if it fails, the pause starts again.
 */
export async function clearThrottle<Hook extends ThrottleState>(db: Transaction, hook: Hook): Promise<Hook> {
  if (hook.throttled_until === null) return hook
  await db.query(sql`update hooks set throttled_until = null where id = ${hook.id}`)
  return { ...hook, throttled_until: null }
}

/** Resets the failures of a receiver and makes all postponed deliveries due now. */
export async function resumeHook(db: Transaction, { id, failures, throttled_until }: ThrottleState) {
  if (failures === 0 && throttled_until === null) return
  // Deliveries before hooks, as when outcomes are recorded, because the opposite order would deadlock with that.
  await db.query(sql`update pending_deliveries set ready_at = ${db.now} where hook_id = ${id} and throttled_at is not null`)
  await db.query(sql`update hooks set failures = 0, throttled_until = null where id = ${id}`)
  db.touch(deliveriesTopic)
}
