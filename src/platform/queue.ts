import { run, Logger as WorkerLogger } from 'graphile-worker'
import type pg from 'pg'
import type { Logger } from 'pino'
import { sql, type Transaction } from './database.ts'

/** What a job does. It may run more than once: after a crash, or when it failed. */
export type Task = (payload: never) => Promise<void>

/** Adds a job in the caller's transaction: it exists exactly when the act that asks for it does. */
export async function enqueue(db: Transaction, task: string, payload: object) {
  await db.query(sql`select graphile_worker.add_job(${task}, ${JSON.stringify(payload)}::json)`)
}

export interface Worker {
  /** Takes no new job and waits for those in hand; what does not end in time is released to another node. */
  stop(): Promise<void>
}

export async function startWorker(pool: pg.Pool, tasks: Record<string, Task>, log: Logger): Promise<Worker> {
  const runner = await run({
    pgPool: pool,
    concurrency: 4,
    noHandleSignals: true,
    pollInterval: 2000,
    parsedCronItems: [],
    logger: new WorkerLogger(() => (level, message, meta) => {
      if (level === 'error') log.error(meta ?? {}, message)
      else log.debug(meta ?? {}, message)
    }),
    taskList: Object.fromEntries(Object.entries(tasks).map(([name, task]) => [name, (payload) => task(payload as never)])),
  })
  return { stop: () => runner.stop() }
}
