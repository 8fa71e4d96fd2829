import type { Batch } from '#activity/outbox/local-dispatch.ts'
import { type SubscribedHook, subscribedHookColumns } from '#activity/outbox/subscribed-hooks.ts'
import { asyncCommit, type Database, sql } from '#platform/database.ts'
import { mostOwned } from './limits.ts'

/** A delivery that belongs to one sender, with the fields of its hook that the sender needs. */
export interface ClaimedDelivery extends Omit<SubscribedHook, 'id' | 'events'> {
  id: number
  hook_id: number
  payload_id: number
  guid: string
  event: string
  attempts: number
  traceparent: string | null
}

export interface ClaimLimits {
  most: number
  per_hook: number
  /** Hooks that the sender has enough deliveries of. */
  full_hooks: number[]
}

/** How many due deliveries are considered, because one hook may have thousands due before those of other hooks. */
const lookAhead = 2000

/** Claims due deliveries, the oldest first. Two senders never claim the same one. */
export function claimDeliveries(
  db: Database,
  sender: number,
  { most, per_hook, full_hooks }: ClaimLimits,
): Promise<ClaimedDelivery[]> {
  return db.genericPlanRows(sql`
    with ready as materialized (
      select id, hook_id from pending_deliveries where ready_at <= ${db.now} and sender is null and hook_id <> all(${full_hooks}::bigint[])
      order by ready_at, id limit ${lookAhead}
    ), fair as materialized (
      select id from (select id, row_number() over (partition by hook_id order by id) as rank from ready) ranked
      where rank <= ${per_hook} order by id limit ${most}
    ), picked as materialized (
      select id from pending_deliveries, ${asyncCommit} where id = any(array(select id from fair)) and sender is null for update of pending_deliveries skip locked
    ), claimed as (
      update pending_deliveries u set sender = ${sender} from picked where u.id = picked.id
      returning u.id, u.hook_id, u.payload_id, u.guid, u.event, u.attempts, u.traceparent
    )
    -- The last column named id wins: the delivery's.
    select ${subscribedHookColumns}, c.*
    from claimed c join hooks h on h.id = c.hook_id order by c.id`)
}

/** Deliveries that were stored for a sender of this process. */
export function claimedIn({ payload_id, event, deliveries, traceparent }: Batch): ClaimedDelivery[] {
  return deliveries.map(({ id, guid, hook }) => ({
    ...hook,
    ...{ id, guid, event, payload_id, traceparent },
    ...{ hook_id: hook.id, attempts: 0 },
  }))
}

/** Releases claimed deliveries that were not sent. */
export async function releaseDeliveries(db: Database, ids: number[], ready_at: Date) {
  await db.query(sql`update pending_deliveries set sender = null, ready_at = ${ready_at} where id = any(${ids})`)
}

/** The deliveries that carry the number of a sender. Transactions before `oldest` had ended by then, those after `own` had not begun. */
export async function listCarried(db: Database, sender: number): Promise<{ ids: number[]; oldest: bigint; own: bigint }> {
  const { ids, oldest, own } = await db.load<{ ids: number[]; oldest: string; own: string }>(sql`
    select pg_snapshot_xmin(pg_current_snapshot())::text as oldest, pg_current_xact_id()::text as own,
      array(select id::float8 from pending_deliveries where sender = ${sender} limit ${2 * mostOwned}) as ids`)
  return { ids, oldest: BigInt(oldest), own: BigInt(own) }
}

export async function releaseLost(db: Database, sender: number, ids: number[]) {
  await db.query(sql`update pending_deliveries set sender = null where sender = ${sender} and id = any(${ids})`)
}
