import { listening } from '#activity/outbox/outbox.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'

/** What a restored copy does not send. */
export interface Silenced {
  paused_hooks: number
  dropped_deliveries: number
}

/**
 * Pauses all webhooks of a server that was restored from a backup, and drops what waits: the server of the backup may still run, and its
 * receivers cannot tell the two apart. Nothing leaves the machine for `belfry:listen`, so these webhooks stay active.
 */
export async function silenceHooks(db: Transaction): Promise<Silenced> {
  const paused = await db.query(sql`
    update hooks set active = false, paused_reason = 'restored', paused_at = ${db.now}
    where active and deleted_at is null and url <> ${listening}`)
  const dropped = await db.query(sql`
    delete from pending_deliveries d using hooks h where h.id = d.hook_id and h.url <> ${listening}`)
  await db.query(sql`
    update replays set status = 'cancelled', finished_at = ${db.now} where status in ('queued', 'running')`)
  return { paused_hooks: paused.rowCount ?? 0, dropped_deliveries: dropped.rowCount ?? 0 }
}

/** Activates the webhooks that a restore paused. One whose maker lost admin access since stays paused, for that reason. Returns how many are active. */
export async function resumeRestoredHooks(db: Transaction): Promise<number> {
  const resumed = await db.rows<{ id: number; creator_id: number | null }>(sql`
    update hooks set active = true, paused_reason = null, paused_at = null
    where paused_reason = 'restored' and deleted_at is null returning id, creator_id`)
  const makers = [...new Set(resumed.flatMap(({ creator_id }) => creator_id ?? []))]
  await db.query(sql`select pause_hooks_of(${makers}::bigint[])`)
  return countActive(db, resumed)
}

async function countActive(db: Queryable, hooks: { id: number }[]) {
  const { active } = await db.load<{ active: number }>(sql`
    select count(*)::integer as active from hooks where id = any(${hooks.map(({ id }) => id)}::bigint[]) and active`)
  return active
}
