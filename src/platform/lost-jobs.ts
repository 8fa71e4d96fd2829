import type { WorkerEvents } from 'graphile-worker'
import { type Database, sql } from './database.ts'
import { type Logger, logFailure } from './log.ts'

/** Milliseconds before we look for lost jobs. By then delayed answers have arrived. */
const pause = 3000
/** Milliseconds for which a finished job counts as known, because its result may not be written yet. */
const settling = 10_000

/**
 * Releases jobs that the database assigned to a runner when the answer was lost with the connection. The runner does not know these jobs,
 * and other runners do not take them while this one lives.
 */
export function reclaimLostJobs(db: Database, events: WorkerEvents, runner_id: () => string, log: Logger, signal: AbortSignal) {
  const known = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  events.on('job:start', ({ job }) => known.add(job.id))
  events.on('job:complete', ({ job }) => setTimeout(() => known.delete(job.id), settling).unref())
  events.on('worker:getJob:error', later)
  signal.addEventListener('abort', () => clearTimeout(timer))

  /** Restarts the pause, because the job of the last lost answer was assigned just now. */
  function later() {
    clearTimeout(timer)
    if (!signal.aborted) timer = setTimeout(reclaim, pause).unref()
  }

  async function reclaim() {
    await db
      .query(sql`
        update graphile_worker._private_jobs set locked_by = null, locked_at = null, attempts = greatest(attempts - 1, 0)
        where locked_by = ${runner_id()} and id <> all(${[...known]}::bigint[])
          and locked_at < clock_timestamp() - ${pause / 2} * interval '1 millisecond'`)
      .catch((error) => {
        logFailure(log, error, 'could not release jobs whose assignment was lost')
        later()
      })
  }
}
