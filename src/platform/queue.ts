import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseCronItems, type Runner, run, type WorkerEvents, Logger as WorkerLogger } from 'graphile-worker'
import type pg from 'pg'
import type { Logger } from 'pino'
import { type Queryable, sql, type Transaction } from './database.ts'
import { keepAlive } from './liveness.ts'

/** What a job does. It may run more than once: after a crash, or when it failed. */
export type Task = (payload: never) => Promise<void>

/** A task that runs by the clock, at the times that `match` names as crontab does. */
export interface Scheduled {
  task: string
  match: string
}

/**
 * A job that is asked for again under the same key while it waits is one job: at the time of the first where it has one, at once otherwise,
 * also if it failed before.
 */
interface Later {
  key: string
  minutes: number
}

/** Adds a job in the caller's transaction: it exists exactly when the act that asks for it does. */
export async function enqueue(db: Transaction, task: string, payload: object, { key, minutes }: Partial<Later> = {}) {
  await db.query(sql`
    select graphile_worker.add_job(${task}, ${JSON.stringify(payload)}::json, job_key := ${key ?? null},
      run_at := ${db.now}::timestamptz + ${minutes ?? null} * interval '1 minute', job_key_mode := ${minutes === undefined ? 'replace' : 'preserve_run_at'})`)
}

/**
 * Gives back the jobs that workers had in hand when they were killed, at once; others wait for their silence, see liveness.ts.
 * Only for who knows that no other node is at work.
 */
export async function releaseAbandonedJobs(db: Queryable) {
  await db.query(sql`
    select graphile_worker.force_unlock_workers(array(
      select distinct locked_by from graphile_worker.jobs where locked_by is not null))`)
}

export interface Worker {
  /** Takes no new job and waits for those in hand; what does not end in time is released to another node. */
  stop(): Promise<void>
}

const concurrency = 4
const pollInterval = 2000

/** Runs jobs until it is stopped, also through times when the database is away. */
export async function startWorker(
  pool: pg.Pool,
  tasks: Record<string, Task>,
  schedule: Scheduled[],
  log: Logger,
): Promise<Worker> {
  const ids = new Set<string>()
  const open = () => begin(pool, tasks, schedule, log, ids)
  let runner = await open()
  const endLife = keepAlive(pool, ids, log)
  let stopping = false
  const watch = async () => {
    while (!stopping) {
      await givesUp(runner)
      if (stopping) return
      log.error('the worker gets no jobs any more: starting a new one')
      await end(runner)
      runner = await open().catch(async (error) => {
        log.error({ err: error }, 'the worker could not be started')
        await sleep(pollInterval)
        return runner
      })
      if (stopping) await end(runner)
    }
  }
  void watch()
  return {
    async stop() {
      stopping = true
      await end(runner)
      await endLife()
    },
  }
}

function begin(pool: pg.Pool, tasks: Record<string, Task>, schedule: Scheduled[], log: Logger, ids: Set<string>) {
  const events: WorkerEvents = new EventEmitter()
  events.on('worker:create', ({ worker }) => ids.add(worker.workerId))
  events.on('job:failed', ({ job, error }) => {
    const said = { job: Number(job.id), task: job.task_identifier, attempts: job.attempts, err: error }
    log.error(said, 'a job failed for good: see GET /admin/jobs/failed, and POST /admin/jobs/{job_id}/retry')
  })
  return run({
    pgPool: pool,
    events,
    concurrency,
    noHandleSignals: true,
    pollInterval,
    parsedCronItems: parseCronItems(schedule),
    logger: new WorkerLogger(() => (level, message, meta) => {
      if (level === 'error') log.error(meta ?? {}, message)
      else log.debug(meta ?? {}, message)
    }),
    taskList: Object.fromEntries(Object.entries(tasks).map(([name, task]) => [name, (payload) => task(payload as never)])),
  })
}

/**
 * Resolves when a runner has ended, or when nobody in it could ask for a job twice in a row: it looks its tasks up once,
 * and when the database was away at that moment, it fails for ever.
 */
function givesUp({ promise, events }: Runner) {
  return new Promise<void>((resolve) => {
    let failures = 0
    events.on('worker:getJob:error', () => ++failures >= 2 * concurrency && resolve())
    for (const success of ['worker:getJob:empty', 'job:start'] as const) {
      events.on(success, () => {
        failures = 0
      })
    }
    promise.then(resolve, () => resolve())
  })
}

async function end(runner: Runner) {
  // One that ended by itself cannot be stopped again.
  await runner.stop().catch(() => {})
}
