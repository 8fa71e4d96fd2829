import type { WorkerEvents } from 'graphile-worker'
import { type Database, sql } from './database.ts'
import { type Logger, logFailure } from './log.ts'

/** In milliseconds. */
const usual = {
  /** Before we look for lost jobs. By then delayed answers have arrived. */
  pause: 3000,
  /** Between later looks. */
  again: 10_000,
  /** How long we look again. A statement whose connection is lost may run later: while PostgreSQL is paused, it waits in PostgreSQL's socket. */
  doubtful: 120_000,
}
/** Milliseconds for which a finished job counts as known, because its result may not be written yet. */
const settling = 10_000

/**
 * Releases jobs that the database assigned to a runner when the answer was lost with the connection. The runner does not know these jobs,
 * and other runners do not take them while this one lives.
 */
export function reclaimLostJobs(
  db: Database,
  events: WorkerEvents,
  runner_id: () => string,
  log: Logger,
  signal: AbortSignal,
  { pause, again, doubtful } = usual,
) {
  const known = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let last_loss = 0
  events.on('job:start', ({ job }) => known.add(job.id))
  events.on('job:complete', ({ job }) => setTimeout(() => known.delete(job.id), settling).unref())
  events.on('worker:getJob:error', begin)
  signal.addEventListener('abort', () => clearTimeout(timer))

  /** Restarts the pause, because the job of the last lost answer was assigned just now. */
  function begin() {
    last_loss = performance.now()
    lookAfter(pause, pause / 2)
  }

  function lookAfter(milliseconds: number, margin: number) {
    clearTimeout(timer)
    if (!signal.aborted) timer = setTimeout(() => void look(margin), milliseconds).unref()
  }

  async function look(margin: number) {
    try {
      await reclaim(margin)
    } catch (error) {
      logFailure(log, error, 'could not release jobs whose assignment was lost')
      return begin()
    }
    if (performance.now() - last_loss < doubtful) lookAfter(again, again)
  }

  /** Those that were assigned longer ago than `margin`: the answers of others may still arrive. */
  async function reclaim(margin: number) {
    await db.query(sql`
      update graphile_worker._private_jobs set locked_by = null, locked_at = null, attempts = greatest(attempts - 1, 0)
      where locked_by = ${runner_id()} and id <> all(${[...known]}::bigint[])
        and locked_at < clock_timestamp() - ${margin} * interval '1 millisecond'`)
  }
}
