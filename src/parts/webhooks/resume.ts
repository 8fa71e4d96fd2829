import { deliveriesTopic } from '#hosting/announcements/announcements.ts'
import { sql, type Transaction } from '#platform/database.ts'

interface Held {
  id: number
  failures: number
  throttled_until: Date | null
}

/**
 * Lets one delivery that a person asked for go out at once, although its receiver failed before. It is a trial: when it succeeds,
 * everything that was held back follows; when it fails, the hold begins again.
 */
export async function clearThrottle<Hook extends Held>(db: Transaction, hook: Hook): Promise<Hook> {
  if (hook.throttled_until === null) return hook
  await db.query(sql`update hooks set throttled_until = null where id = ${hook.id}`)
  return { ...hook, throttled_until: null }
}

/** Forgets the failures of a receiver, and sends everything that was held back now. */
export async function resumeHook(db: Transaction, { id, failures, throttled_until }: Held) {
  if (failures === 0 && throttled_until === null) return
  // Deliveries before hooks, as when outcomes are recorded, because the opposite order would deadlock with that.
  await db.query(sql`update pending_deliveries set ready_at = ${db.now} where hook_id = ${id} and throttled_at is not null`)
  await db.query(sql`update hooks set failures = 0, throttled_until = null where id = ${id}`)
  db.touch(deliveriesTopic)
}
