import { type Database, empty, raw, type Sql, sql, type Transaction } from '#platform/database.ts'
import { enqueue } from '#platform/queue.ts'

/** Which unread threads of a person are marked. */
interface Scope {
  user_id: number
  repo_id: number | null
  /** Those updated after this stay unread. */
  last_read_at: Date
  /** Updates of this very second are marked as far as they were in the list that this snapshot gave, see seen.ts. */
  seen: string | null
}

/** More than this are marked by a job, so many at a time. */
const atOnce = 1000
const inBackground = 5000

/**
 * Marks what a person has been told as read; true when that is done, false when it is done in the background. What is being updated at the
 * same moment stays unread: nobody has read that yet.
 */
export async function markAllRead(
  db: Transaction,
  user: { id: number },
  { last_read_at, seen = null, repo_id = null }: { last_read_at: Date; seen?: string | null; repo_id?: number | null },
): Promise<boolean> {
  const scope = { user_id: user.id, repo_id, last_read_at, seen }
  const more = await db.first<{ snapshot: string }>(sql`
    select pg_current_snapshot()::text as snapshot from (
      select from threads t, log_base where ${among(scope)} order by t.updated_at desc, t.id desc
      offset ${raw(String(atOnce))} limit 1) more`)
  if (more) await enqueue(db, 'mark_read', { ...scope, snapshot: more.snapshot })
  else await markBatch(db, scope, sql`pg_current_snapshot()`, atOnce)
  return more === undefined
}

/** What was to be seen when the mark was asked for, and nothing that came since. */
export interface MarkInBackground extends Omit<Scope, 'last_read_at'> {
  last_read_at: string
  snapshot: string
}

/** A job for each batch, so that nobody waits long for one to end. */
export async function markInBackground(db: Database, mark: MarkInBackground) {
  const scope = { ...mark, last_read_at: new Date(mark.last_read_at) }
  await db.transaction(async (transaction) => {
    const marked = await markBatch(transaction, scope, sql`${mark.snapshot}::pg_snapshot`, inBackground)
    if (marked) await enqueue(transaction, 'mark_read', mark)
  })
}

/**
 * The newest first. A row that somebody else holds is being updated by them, and not waited for. The limit stands in the statement itself:
 * one that is left open makes the database prepare for a tenth of all threads.
 */
async function markBatch(db: Transaction, scope: Scope, snapshot: Sql, most: number) {
  await lockMarks(db, scope)
  const { rowCount } = await db.query(sql`
    update threads set unread = false, position = (select log_position()),
      last_read_at = greatest(last_read_at, least(${scope.last_read_at}::timestamptz, ${db.now}::timestamptz))
    where ctid = any(array(
      select t.ctid from threads t, log_base where ${among(scope)} and log_seen(t.position, ${snapshot}, base)
      order by t.updated_at desc, t.id desc limit ${raw(String(most))} for update of t skip locked))`)
  return rowCount ?? 0
}

function among({ user_id, repo_id, last_read_at, seen }: Scope): Sql {
  const inSecond = sql`date_trunc('second', t.updated_at) = ${last_read_at}::timestamptz
    and log_seen(t.position, ${seen}::pg_snapshot, base)`
  return sql`t.user_id = ${user_id} and t.unread ${repo_id === null ? empty : sql`and t.repo_id = ${repo_id}`}
    and (t.updated_at <= ${last_read_at} ${seen === null ? empty : sql`or (${inSecond})`})`
}

/** Marks of one person take turns, or one would take what the other holds for an update, and be lost. */
async function lockMarks(db: Transaction, { user_id }: { user_id: number }) {
  await db.query(sql`select pg_advisory_xact_lock(hashtextextended('mark', ${user_id}))`)
}

/** What may be done to a thread by whoever has it. */
export type Change = 'read' | 'unread' | 'done' | 'undone'

const changes: Record<Change, { set: Sql; those: Sql }> = {
  read: { set: sql`unread = false`, those: sql`t.unread` },
  unread: { set: sql`unread = true, done = false`, those: sql`not t.unread` },
  done: { set: sql`unread = false, done = true`, those: sql`not t.done` },
  undone: { set: sql`done = false`, those: sql`t.done` },
}

/** Marks threads of a person; as with all of them, what is being updated at the same moment is left as it will be. */
export async function markThreads(db: Transaction, user: { id: number }, ids: number[], change: Change) {
  const { set, those } = changes[change]
  const read = change === 'read' || change === 'done' ? sql`, last_read_at = greatest(last_read_at, ${db.now})` : empty
  await lockMarks(db, { user_id: user.id })
  await db.query(sql`
    update threads set ${set} ${read}, position = (select log_position())
    where id in (
      select t.id from threads t, log_base
      where t.id = any(${ids}) and t.user_id = ${user.id} and ${those} and log_seen(t.position, pg_current_snapshot(), base)
      for update of t skip locked)`)
}
