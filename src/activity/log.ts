import { type Queryable, sql, type Transaction } from '#platform/database.ts'

/** Drops the months that ended before `kept_since`. */
export async function forgetEvents(db: Transaction, kept_since: Date): Promise<string[]> {
  const partitions = await db.rows<{ name: string; ended_at: Date }>(sql`
    select child.relname as name, substring(pg_get_expr(child.relpartbound, child.oid) from 'TO [(]''([^'']+)''')::timestamptz as ended_at
    from pg_inherits join pg_class child on child.oid = inhrelid where inhparent = 'events'::regclass`)
  const over = partitions.filter(({ ended_at }) => ended_at <= kept_since).map(({ name }) => name)
  for (const name of over) await db.query(sql`select drop_events(${name})`)
  return over
}

/** Deletes a batch of a repository's events. Returns whether there are more. */
export async function forgetRepository(db: Transaction, repo_id: number): Promise<boolean> {
  const { rowCount } = await db.query(sql`
    delete from events where repo_id = ${repo_id} and (created_at, id) in (
      select created_at, id from events where repo_id = ${repo_id} order by created_at, id limit ${batch})`)
  return rowCount === batch
}
const batch = 5000

/**
 * A database restored from a dump restarts its transaction ids below the positions in its log. This moves new positions above all
 * existing ones; it runs before anything is recorded. Snapshots of the former server would contain transactions that are still to come.
 */
export async function alignLog(db: Queryable) {
  const log = await db.first<{ restored: boolean }>(sql`select max(position) >= log_position() as restored from events`)
  if (!log?.restored) return
  await db.query(sql`
    update log_base set base = base + gap
    from (select greatest((select max(position) from events), (select max(position) from threads)) + 1 - log_position() as gap) restored`)
  await db.query(sql`delete from list_snapshots`)
}
