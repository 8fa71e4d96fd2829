import { type Database, type Sql, sql } from '#platform/database.ts'

/** How long deliveries are kept, in days. */
const daysKept = 30

/**
 * Creates tomorrow's partitions, so that no request has to, and drops expired ones unless a pending delivery still needs them for its
 * payload or its outcome.
 */
export async function forgetDeliveries(db: Database): Promise<void> {
  await withLockTimeout(db, sql`select open_delivery_day(delivery_day(${db.now}) + 1)`)
  const over = await db.rows<{ day: number }>(sql`
    with days as (
      select distinct substring(child.relname from '[0-9]+$')::bigint as day
      from pg_inherits join pg_class child on child.oid = inhrelid where inhparent in ('deliveries'::regclass, 'payloads'::regclass)
    )
    select day from days
    where day < delivery_day(${db.now}::timestamptz - ${daysKept} * interval '1 day')
      and not exists (select from pending_deliveries where id >= day << 36 and id < (day + 1) << 36)
      and not exists (select from pending_deliveries where payload_id >= day << 36 and payload_id < (day + 1) << 36)
    order by day`)
  for (const { day } of over) await withLockTimeout(db, sql`select drop_delivery_day(${day})`)
  await db.query(sql`delete from replays where finished_at < ${db.now}::timestamptz - ${daysKept} * interval '1 day'`)
}

/** Gives up after two seconds, because senders queue behind a waiting exclusive lock. The job is retried. */
function withLockTimeout(db: Database, statement: Sql) {
  return db.transaction(async (transaction) => {
    await transaction.query(sql`set local lock_timeout = '2s'`)
    await transaction.query(statement)
  })
}
