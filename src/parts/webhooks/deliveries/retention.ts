import { type Database, type Sql, sql } from '#platform/database.ts'

/** How long deliveries are kept, in days. */
const daysKept = 30

/**
 * Makes tomorrow's tables, so that no act has to, and drops the days that are over for so long, but for those that something still
 * waits to be sent from, or to be recorded in.
 */
export async function forgetDeliveries(db: Database): Promise<void> {
  await inNoTime(db, sql`select open_delivery_day(delivery_day(${db.now}) + 1)`)
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
  for (const { day } of over) await inNoTime(db, sql`select drop_delivery_day(${day})`)
  await db.query(sql`delete from replays where finished_at < ${db.now}::timestamptz - ${daysKept} * interval '1 day'`)
}

/** Whoever reads for long is not waited for, since all who send would wait behind us; the job is tried again. */
function inNoTime(db: Database, statement: Sql) {
  return db.transaction(async (transaction) => {
    await transaction.query(sql`set local lock_timeout = '2s'`)
    await transaction.query(statement)
  })
}
