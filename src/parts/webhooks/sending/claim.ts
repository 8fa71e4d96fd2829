import { type Listener, listenerColumns } from '#hosting/announcements/announcements.ts'
import { asyncCommit, type Database, sql } from '#platform/database.ts'

/** A delivery that a sender has in hand, with what it needs to know of its hook. */
export interface ClaimedDelivery extends Omit<Listener, 'id' | 'events'> {
  id: number
  hook_id: number
  payload_id: number
  guid: string
  event: string
  attempts: number
}

export interface ClaimLimits {
  /** How many may be taken, and how many of one hook. */
  most: number
  per_hook: number
  /** Hooks that have enough in hand. */
  fullHooks: number[]
}

/** How far we look for something to take: a hook may have thousands ready, and others come after it. */
const lookAhead = 2000

/** Takes what is ready, the oldest first. Several senders never take the same. */
export function claimDeliveries(
  db: Database,
  sender: number,
  { most, per_hook, fullHooks }: ClaimLimits,
): Promise<ClaimedDelivery[]> {
  return db.genericPlanRows(sql`
    with ready as materialized (
      select id, hook_id from pending_deliveries where ready_at <= ${db.now} and sender is null and hook_id <> all(${fullHooks}::bigint[])
      order by ready_at, id limit ${lookAhead}
    ), fair as materialized (
      select id from (select id, row_number() over (partition by hook_id order by id) as place from ready) placed
      where place <= ${per_hook} order by id limit ${most}
    ), picked as materialized (
      select id from pending_deliveries, ${asyncCommit} where id = any(array(select id from fair)) and sender is null for update of pending_deliveries skip locked
    ), taken as (
      update pending_deliveries u set sender = ${sender} from picked where u.id = picked.id
      returning u.id, u.hook_id, u.payload_id, u.guid, u.event, u.attempts
    )
    -- The id is the last one named: the delivery's.
    select ${listenerColumns}, t.*
    from taken t join hooks h on h.id = t.hook_id order by t.id`)
}

/** Puts back what was taken and not begun. */
export async function releaseDeliveries(db: Database, ids: number[], ready_at: Date) {
  await db.query(sql`update pending_deliveries set sender = null, ready_at = ${ready_at} where id = any(${ids})`)
}

/** Puts back all that a sender has which has nothing in hand. */
export async function releaseAll(db: Database, sender: number) {
  await db.query(sql`update pending_deliveries set sender = null where sender = ${sender}`)
}
