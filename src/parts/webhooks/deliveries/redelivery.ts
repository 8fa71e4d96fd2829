import { deliveriesTopic, listening, patience } from '#activity/outbox/outbox.ts'
import type { Hook } from '#parts/webhooks/hooks.ts'
import { clearThrottle } from '#parts/webhooks/throttling.ts'
import { sql, type Transaction } from '#platform/database.ts'

interface RedeliveryOptions {
  payload_id: number
  /** Null for a new one. */
  guid: string | null
  redelivery: boolean
}

/**
 * Stores another delivery of a payload; false when the payload is deleted. The payload of an earlier day is copied, because payloads are
 * deleted by day and this one must live as long as the new delivery.
 */
export async function enqueueRedelivery(
  db: Transaction,
  hook: Hook,
  { payload_id, guid, redelivery }: RedeliveryOptions,
): Promise<boolean> {
  await db.query(sql`select open_delivery_day(delivery_day(${db.now}))`)
  const { rowCount } = await db.query(sql`
    with source as materialized (
      select * from payloads where id = ${payload_id}
    ), copied as (
      insert into payloads (id, repo_id, event, action, body, created_at)
      select delivery_id(${db.now}), repo_id, event, action, body, created_at from source where id >> 36 <> delivery_day(${db.now})
      returning id
    )
    insert into pending_deliveries (id, hook_id, payload_id, repo_id, guid, event, action, redelivery, created_at, ready_at)
    select delivery_id(${db.now}), ${hook.id}, coalesce(copied.id, source.id), repo_id, coalesce(${guid}, gen_random_uuid()), event, action,
      ${redelivery}, ${db.now}, ${db.now}::timestamptz + ${hook.url === listening ? patience : 0} * interval '1 second'
    from source left join copied on true`)
  await clearThrottle(db, hook)
  db.touch(deliveriesTopic)
  return rowCount === 1
}
