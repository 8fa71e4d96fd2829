import { sql, type Transaction } from '#platform/database.ts'

/**
 * The id of a repository that is not deleted until the transaction ends, for statements that lock something of it. Deleting it locks the
 * repository and then everything that it has; those who lock an issue and then need its repository lock in the opposite order. Without this lock
 * each would wait for the other until PostgreSQL ends one of them, and everything else in the repository would wait for a second. It is not
 * a lock of the row, because a row that is always shared by someone is never free for the deletion.
 */
export const keptId = ({ id }: { id: number }) =>
  sql`(select ${id}::bigint as id from pg_advisory_xact_lock_shared(${deletions}, hashint8(${id})))`

/** Waits for those who use `keptId`. Those who come later wait for the deletion. */
export async function waitForKeepers(db: Transaction, { id }: { id: number }) {
  await db.query(sql`select pg_advisory_xact_lock(${deletions}, hashint8(${id}))`)
}

/** The first key of these advisory locks. */
const deletions = 0x6b656570
