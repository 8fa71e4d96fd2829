import { type Database, empty, raw, type Sql, sql, type Transaction } from '#platform/database.ts'
import { enqueue } from '#platform/queue.ts'

/** Which unread threads of a user are marked. */
interface Scope {
  user_id: number
  repo_id: number | null
  /** Threads that were updated later stay unread. */
  last_read_at: Date
  /** Updates within the second of `last_read_at` are marked if this snapshot contains them, see list-snapshots.ts. */
  list_snapshot: string | null
}

/**
 * A scalar, not a join: `log_base` has one row and is never analyzed, so the planner expects 2,260. With a join it reads every thread of
 * the server to find one by its id (40 to 141 ms instead of 0.2).
 */
export const base = sql`(select base from log_base)`

type Wanted = Pick<Scope, 'last_read_at'> & Partial<Scope>

/** More threads than `atOnce` are marked by a job, in batches of `inBackground`. */
const atOnce = 1000
const inBackground = 5000

/**
 * Marks threads as read; false when this continues in the background. A thread that is updated at the same time stays unread, because the
 * user has not seen the update.
 */
export async function markAllRead(db: Transaction, user: { id: number }, wanted: Wanted): Promise<boolean> {
  const scope = { user_id: user.id, repo_id: null, list_snapshot: null, ...wanted }
  const more = await db.first<{ snapshot: string }>(sql`
    select pg_current_snapshot()::text as snapshot from (
      select from threads t where ${among(scope)} order by t.updated_at desc, t.id desc
      offset ${raw(String(atOnce))} limit 1) more`)
  if (more) await enqueue(db, 'mark_read', { ...scope, snapshot: more.snapshot })
  else await markBatch(db, scope, sql`pg_current_snapshot()`, atOnce)
  return more === undefined
}

/** `snapshot` is that of the request, so that later updates stay unread. */
export interface MarkInBackground extends Omit<Scope, 'last_read_at'> {
  last_read_at: string
  snapshot: string
}

/** Each batch is a job of its own, because a stop waits for running jobs. */
export async function markInBackground(db: Database, mark: MarkInBackground) {
  const scope = { ...mark, last_read_at: new Date(mark.last_read_at), list_snapshot: mark.list_snapshot ?? null }
  await db.transaction(async (transaction) => {
    const marked = await markBatch(transaction, scope, sql`${mark.snapshot}::pg_snapshot`, inBackground)
    if (marked) await enqueue(transaction, 'mark_read', mark)
  })
}

/**
 * The newest first. A locked row is being updated and is skipped. The limit is a literal, because with a parameter the planner expects a
 * tenth of all threads.
 */
async function markBatch(db: Transaction, scope: Scope, snapshot: Sql, most: number) {
  await lockMarks(db, { id: scope.user_id })
  const { rowCount } = await db.query(sql`
    update threads set unread = false, position = (select log_position()),
      last_read_at = greatest(last_read_at, least(${scope.last_read_at}::timestamptz, ${db.now}::timestamptz))
    where ctid = any(array(
      select t.ctid from threads t where ${among(scope)} and log_seen(t.position, ${snapshot}, ${base})
      order by t.updated_at desc, t.id desc limit ${raw(String(most))} for update of t skip locked))`)
  return rowCount ?? 0
}

function among({ user_id, repo_id, last_read_at, list_snapshot }: Scope): Sql {
  const inSecond = sql`date_trunc('second', t.updated_at) = ${last_read_at}::timestamptz
    and log_seen(t.position, ${list_snapshot}::pg_snapshot, ${base})`
  return sql`t.user_id = ${user_id} and t.unread ${repo_id === null ? empty : sql`and t.repo_id = ${repo_id}`}
    and (t.updated_at <= ${last_read_at} ${list_snapshot === null ? empty : sql`or (${inSecond})`})`
}

/**
 * Serializes marks of one user, because a mark skips locked rows and would miss those that another mark has locked. A statement of its own
 * has the lock before the mark takes its snapshot.
 */
export const marksLock = ({ id }: { id: number }) => sql`pg_advisory_xact_lock(hashtextextended('mark', ${id}))`

async function lockMarks(db: Transaction, user: { id: number }) {
  await db.query(sql`select ${marksLock(user)}`)
}

export type Change = 'read' | 'unread' | 'done' | 'undone' | 'save' | 'unsave'

const changes: Record<Change, { set: Sql; those: Sql }> = {
  read: { set: sql`unread = false`, those: sql`t.unread` },
  unread: { set: sql`unread = true, done = false`, those: sql`not t.unread` },
  done: { set: sql`unread = false, done = true, snoozed_until = null`, those: sql`(not t.done or t.snoozed_until is not null)` },
  undone: { set: sql`done = false`, those: sql`t.done` },
  save: { set: sql`saved = true`, those: sql`not t.saved` },
  unsave: { set: sql`saved = false`, those: sql`t.saved` },
}

const snoozed = (until: Date) => ({ set: sql`unread = false, done = true, snoozed_until = ${until}`, those: sql`true` })

/** Changes after which nothing shows an update that the user has not seen. Threads that are updated at the same time are left out. */
export const hidesUpdates = (change: Change | { until: Date }) => change === 'read' || change === 'done'

/** Marks threads of a user. */
export async function markThreads(db: Transaction, user: { id: number }, ids: number[], change: Change | { until: Date }) {
  await lockMarks(db, user)
  await markLocked(db, user, ids, change)
}

/** The same for a caller that has the lock, see lockThread. */
export async function markLocked(db: Transaction, user: { id: number }, ids: number[], change: Change | { until: Date }) {
  const { set, those } = typeof change === 'object' ? snoozed(change.until) : changes[change]
  const hides = hidesUpdates(change)
  const read = hides ? sql`, last_read_at = greatest(last_read_at, ${db.now})` : empty
  await db.query(sql`
    update threads set ${set} ${read}, position = (select log_position())
    where id in (
      select t.id from threads t
      where t.id = any(${ids}) and t.user_id = ${user.id} and ${those}
        ${hides ? sql`and log_seen(t.position, pg_current_snapshot(), ${base})` : empty}
      order by t.id for update of t ${hides ? sql`skip locked` : empty})`)
}

/** Marks as unread what `markAllRead` marked at once, by the position of its transaction. Threads that changed since have another one. */
export async function unmarkAll(db: Transaction, user: { id: number }, position: number) {
  await lockMarks(db, user)
  await db.query(sql`
    update threads set unread = true, position = (select log_position())
    where user_id = ${user.id} and position = ${position} and not unread and not done`)
}
