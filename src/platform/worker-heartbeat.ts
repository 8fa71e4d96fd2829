import type pg from 'pg'
import { type Logger, logFailure } from './log.ts'

/** How often a worker says that it lives, and after how long a silence it is taken for dead. In milliseconds. */
const beat = 10_000
const silence = 60_000

/**
 * Says that the workers of this process live, until the returned function is called; and gives back the jobs of those that do not any more,
 * on whichever node. The queue itself would leave these alone for four hours.
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

/** Whose jobs were given back. Goes by the database's clock, as the queue does: nodes need not agree on the time. */
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
  if (gone.length) await pool.query('select graphile_worker.force_unlock_workers($1)', [gone])
  return gone
}
