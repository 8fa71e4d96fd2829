import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseCronItems, type Runner, run, type TaskList, type WorkerEvents, Logger as WorkerLogger } from 'graphile-worker'
import type pg from 'pg'
import { type Database, type Queryable, sql, type Transaction } from './database.ts'
import { type Logger, logFailure } from './log.ts'
import { trackWork } from './loop-watchdog.ts'
import { reclaimLostJobs } from './lost-jobs.ts'
import { DatabaseUnavailable, unreachable } from './unavailable.ts'
import { startHeartbeat } from './worker-heartbeat.ts'

/** A job may run more than once: after a crash, or when it failed. */
export type Task = (payload: never) => Promise<void>

/** A job fails with this when it has to wait for another one. It is tried again later, so it is no error. */
export class Waiting extends Error {}

/** A task that runs at the times in `match`, which has crontab's format. */
export interface Scheduled {
  task: string
  match: string
}

/**
 * While a job with the same key waits, it is not added again. With `minutes`, the time of the first request counts; otherwise the job runs
 * at once, even if it failed before.
 */
interface Later {
  key: string
  minutes: number
}

/** Adds a job in the caller's transaction: the job exists if the transaction commits. */
export async function enqueue(db: Transaction, task: string, payload: object, { key, minutes }: Partial<Later> = {}) {
  await db.query(sql`
    select enqueue_job(${task}, ${JSON.stringify(payload)}::json, ${key ?? null},
      ${db.now}::timestamptz + ${minutes ?? null} * interval '1 minute', ${minutes === undefined ? 'replace' : 'preserve_run_at'})`)
}

/**
 * Releases the jobs of killed workers at once. Other nodes' jobs wait for the heartbeat's time-out, see worker-heartbeat.ts. Only for a
 * node that knows that no other node runs.
 */
export async function releaseAbandonedJobs(db: Queryable) {
  await db.query(sql`
    select graphile_worker.force_unlock_workers(array(
      select distinct locked_by from graphile_worker.jobs where locked_by is not null))`)
}

export interface Worker {
  /** Starts no new jobs and waits for running ones. Jobs that do not end in time are released to other nodes. */
  stop(): Promise<void>
}

const failedForGood = 'a job failed for good: see GET /admin/jobs/failed, and POST /admin/jobs/{job_id}/retry'
const concurrency = 4
const pollInterval = 2000
/** How often a job is repeated when the database is away before it counts as failed. This covers an outage of at least ten minutes. */
const mostAttempts = 600

/** Runs jobs until it is stopped, also across outages of the database. */
export async function startWorker(
  db: Database,
  tasks: Record<string, Task>,
  schedule: Scheduled[],
  log: Logger,
): Promise<Worker> {
  const ids = new Set<string>()
  const stopping = new AbortController()
  const lasting = Object.fromEntries(
    Object.entries(tasks).map(([name, task]) => [name, outlast(db, name, task, stopping.signal)]),
  )
  const open = async () => {
    if (db.health.away) throw unreachable()
    return begin(db, lasting, schedule, log, ids, stopping.signal)
  }
  let current = await open()
  const endLife = startHeartbeat(db.background, ids, log)
  /** Replaced runners that have not ended yet. */
  const leaving = new Set<Promise<void>>()
  const watch = async () => {
    for (;;) {
      await givesUp(current.runner)
      if (stopping.signal.aborted) return
      log.warn('the worker gets no jobs any more: starting a new one')
      const left = leave(db, current, ids, stopping.signal).finally(() => leaving.delete(left))
      leaving.add(left)
      const next = await persist(open, stopping.signal, (error) => logFailure(log, error, 'the worker could not be started'))
      if (!next) return
      current = next
      if (stopping.signal.aborted) return end(current)
    }
  }
  const watching = watch()
  return {
    async stop() {
      stopping.abort()
      await end(current)
      await Promise.all([watching, ...leaving])
      await endLife()
      // The library keeps the options of every runner for the life of the process (0.18.0, `cacheByOptions` in taskIdentifiers.js).
      for (const name of Object.keys(lasting)) delete lasting[name]
      current.runner.events.removeAllListeners()
    },
  }
}

/**
 * Repeats a task when the database goes away during it. The queue would count a failed job, wait longer after each failure, and could not
 * record the failure.
 */
function outlast(db: Database, name: string, task: Task, signal: AbortSignal) {
  const run = async (payload: unknown) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await db.withBackgroundTimeouts(() => trackWork(`job ${name}`, () => task(payload as never)))
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable) || attempt === mostAttempts || signal.aborted) throw error
      }
      await sleep(pollInterval / 2, undefined, { signal }).catch(() => {})
    }
  }
  return (payload: unknown) => {
    const { traceparent } = (payload ?? {}) as { traceparent?: string }
    return db.tracer ? db.tracer.continued(traceparent, `job ${name}`, 'consumer', {}, () => run(payload)) : run(payload)
  }
}

interface Begun {
  runner: Runner
  /** The queue's id for the owner of its jobs. */
  id: string
  /** Ids of its running jobs. */
  active: ReadonlySet<string>
}

async function begin(
  db: Database,
  tasks: TaskList,
  schedule: Scheduled[],
  log: Logger,
  ids: Set<string>,
  signal: AbortSignal,
): Promise<Begun> {
  const events: WorkerEvents = new EventEmitter()
  let id = ''
  events.on('pool:create', ({ workerPool }) => {
    id = workerPool.id
    ids.add(id)
  })
  const active = new Set<string>()
  events.on('job:start', ({ job }) => active.add(job.id))
  events.on('job:complete', ({ job }) => active.delete(job.id))
  // A job never completes if its runner was ending and refused the result.
  events.on('worker:fatalError', ({ worker }) => active.delete(worker.getActiveJob()?.id ?? ''))
  events.on('job:error', ({ job, error }) => {
    const { id, task_identifier: task, attempts, max_attempts } = job
    const fields = { job: Number(id), task, attempts }
    if (attempts < max_attempts && error instanceof Waiting) log.info({ ...fields, reason: error.message }, 'a job waits')
    else if (attempts < max_attempts) logFailure(log, error, 'a job failed; it is tried again later', fields)
    else log.error({ ...fields, err: error }, failedForGood)
  })
  reclaimLostJobs(db, events, () => id, log, signal)
  const runner = await run({
    pgPool: releasingOnce(db.background),
    events,
    concurrency,
    noHandleSignals: true,
    pollInterval,
    parsedCronItems: parseCronItems(schedule),
    logger: new WorkerLogger(() => (level, message, meta) => {
      const { error, failure, ...fields } = (meta ?? {}) as { error?: unknown; failure?: boolean }
      // Failed jobs are logged by their event, without the payload.
      if (level === 'error' && !failure) logFailure(log, error, message, fields)
      else log.debug(fields, message)
    }),
    taskList: tasks,
    // Results of jobs are written in batches, even single ones. Without batches, a failed write is an unhandled rejection, which
    // ends the process.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  })
  return { runner, id, active }
}

/**
 * A pool that ignores a second release of a connection. When the connection that listens for jobs breaks while its runner stops, the
 * library releases it twice (0.18.0, `release` in main.js). The pool would throw, and the uncaught exception would end the process.
 */
function releasingOnce(pool: pg.Pool): pg.Pool {
  type Connected = Parameters<Parameters<pg.Pool['connect']>[0]>
  const connect = (callback?: (...connected: Connected) => void) => {
    if (!callback) return pool.connect()
    return pool.connect((error, client, release) => {
      let released = false
      callback(error, client, (broken) => {
        if (!released) release(broken)
        released = true
      })
    })
  }
  return new Proxy(pool, {
    get(target, name) {
      if (name === 'connect') return connect
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/**
 * Resolves when a runner has ended, or when all its workers failed to get a job twice in a row: it looks up its tasks once, and if the
 * database was away then, it fails forever. A runner that could not write a job's result ends by itself.
 */
function givesUp({ promise, events }: Runner) {
  return new Promise<void>((resolve) => {
    let failures = 0
    events.on('worker:getJob:error', () => ++failures >= 2 * concurrency && resolve())
    events.on('pool:fatalError', () => resolve())
    for (const success of ['worker:getJob:empty', 'job:start'] as const) {
      events.on(success, () => {
        failures = 0
      })
    }
    promise.then(resolve, () => resolve())
  })
}

/** Waits for the running jobs of a runner, then releases its jobs whose results could not be written. */
async function leave(db: Database, begun: Begun, ids: Set<string>, signal: AbortSignal) {
  await end(begun)
  await persist(() => db.query(sql`select graphile_worker.force_unlock_workers(array[${begun.id}])`), signal)
  ids.delete(begun.id)
}

/** Repeats `work` until it succeeds or a stop is requested. */
async function persist<T>(work: () => Promise<T>, signal: AbortSignal, failed: (error: unknown) => void = () => {}) {
  while (!signal.aborted) {
    try {
      return await work()
    } catch (error) {
      failed(error)
    }
    await sleep(pollInterval / 2, undefined, { signal }).catch(() => {})
  }
  return undefined
}

async function end({ runner, active }: Begun) {
  // A runner that ended by itself rejects.
  const over = runner
    .stop()
    .catch(() => {})
    .then(() => runner.promise)
    .catch(() => {})
  // When several results in a row could not be written, the library miscounts them and never ends (0.18.0, `batch` in main.js).
  await Promise.race([over, untilIdle(active)])
}

/** Resolves after a second without running jobs. */
async function untilIdle(active: ReadonlySet<string>) {
  for (let idle = 0; idle < 2; idle = active.size === 0 ? idle + 1 : 0) await sleep(1000, undefined, { ref: false })
}
