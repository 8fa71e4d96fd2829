import type pg from 'pg'
import { type Logger, logFailure } from './log.ts'

/** The interval of heartbeats, and the silence after which a worker counts as dead. In milliseconds. */
const beat = 10_000
const silence = 60_000

/**
 * Sends heartbeats for the workers of this process until the returned function is called, and releases the jobs of dead workers of all
 * nodes. The queue itself would release them after four hours.
 */
export function startHeartbeat(pool: pg.Pool, ids: ReadonlySet<string>, log: Logger): () => Promise<void> {
  const tick = async () => {
    try {
      const freed = await recordHeartbeat(pool, ids)
      if (freed.length) log.warn({ workers: freed }, 'workers stopped sending heartbeats: their jobs are released')
    } catch (error) {
      logFailure(log, error, 'the heartbeat of the workers could not be written')
    }
  }
  void tick()
  const timer = setInterval(tick, beat).unref()
  return async () => {
    clearInterval(timer)
    await pool.query('delete from workers where id = any($1)', [[...ids]]).catch(() => {})
  }
}

/** Returns the workers whose jobs were released. Uses the database's clock, as the queue does, because the clocks of nodes may differ. */
export async function recordHeartbeat(pool: pg.Pool, ids: ReadonlySet<string>): Promise<string[]> {
  await pool.query(
    `insert into workers (id, seen_at) select unnest($1::text[]), clock_timestamp()
     on conflict (id) do update set seen_at = excluded.seen_at`,
    [[...ids]],
  )
  await pool.query(`delete from workers where seen_at < clock_timestamp() - interval '1 hour'`)
  const { rows } = await pool.query<{ id: string }>(
    `select distinct j.locked_by as id from graphile_worker.jobs j
     where j.locked_at < clock_timestamp() - $1 * interval '1 millisecond' and not exists (
       select from workers w where w.id = j.locked_by and w.seen_at > clock_timestamp() - $1 * interval '1 millisecond')`,
    [silence],
  )
  const gone = rows.map(({ id }) => id)
  // A job with a key that is added again while it runs loses the key and all its attempts: the new job replaces it. If its worker dies, or
  // releases it at that moment, it would count as failed for ever.
  await pool.query(
    `delete from graphile_worker._private_jobs
     where (locked_at is null or locked_by = any($1)) and key is null and attempts >= max_attempts and max_attempts > 1 and last_error is null`,
    [gone],
  )
  if (!gone.length) return []
  await pool.query('select graphile_worker.force_unlock_workers($1)', [gone])
  return gone
}
