import { asyncCommit, type Queryable, type Sql, sql } from '#platform/database.ts'
import { base } from './mark-read.ts'

/**
 * The API shows times in whole seconds. A client that marks everything up to the time of its newest thread means this thread, but not
 * one that was updated later in the same second. The snapshot of its list tells them apart. Without a snapshot, the thread stays unread.
 *
 * A client returns nothing but the time, so the snapshot cannot travel in the response. It is stored in the database, because another
 * node may get the mark, or this one after a restart. It is stored before the response is sent, at the same time as the version of the
 * response is looked up, which takes longer. It does not wait for the disk: after a power loss, threads of the last second stay unread.
 */
export async function storeListSnapshot(db: Queryable, user: { id: number }, snapshot: string) {
  // Of two nodes that read at the same time, the one with the older snapshot may be the later one here. The account may be deleted meanwhile.
  await db.query(sql`
    insert into list_snapshots as l (user_id, snapshot, read_at)
    select id, ${snapshot}::pg_snapshot, ${db.now} from accounts, ${asyncCommit} where id = ${user.id} for key share of accounts
    on conflict (user_id) do update set snapshot = excluded.snapshot, read_at = excluded.read_at
    where pg_snapshot_xmax(excluded.snapshot) >= pg_snapshot_xmax(l.snapshot)`)
}

/** Whether the stored snapshot contains a position. A list of such threads needs no other snapshot, so reading it again writes nothing. */
export const isInListSnapshot = (user: { id: number }, position: Sql) => sql`coalesce(
  log_seen(${position}, (select snapshot from list_snapshots where user_id = ${user.id}), ${base}), false)`

/** The snapshot for a mark up to a time. A time with fractions of a second needs none. */
export async function lastListSnapshot(db: Queryable, user: { id: number }, last_read_at: Date): Promise<string | null> {
  if (last_read_at.getMilliseconds()) return null
  const last = await db.first<{ snapshot: string }>(sql`
    select snapshot::text as snapshot from list_snapshots where user_id = ${user.id}`)
  return last?.snapshot ?? null
}

/** After that, a mark up to a whole second leaves a thread unread that was updated in that second. */
const daysKept = 30

export async function deleteOldSnapshots(db: Queryable) {
  await db.query(sql`delete from list_snapshots where read_at < ${db.now}::timestamptz - ${daysKept} * interval '1 day'`)
}
