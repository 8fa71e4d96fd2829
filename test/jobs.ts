import { Logger, runOnce } from 'graphile-worker'
import { sql } from '#platform/database.ts'
import type { Task } from '#platform/queue.ts'
import type { Forge } from './forge.ts'

/** Runs the waiting jobs of these tasks. None may fail. */
export async function runJobs({ belfry: { db } }: Pick<Forge, 'belfry'>, tasks: Record<string, Task>) {
  const taskList = Object.fromEntries(
    Object.entries(tasks).map(([name, task]) => [name, (payload: unknown) => task(payload as never)]),
  )
  await runOnce({ pgPool: db.pool, taskList, noHandleSignals: true, logger: new Logger(() => () => {}) })
  const [failed] = await db.rows<{ last_error: string }>(
    sql`select last_error from graphile_worker.jobs where last_error is not null`,
  )
  if (failed) throw new Error(failed.last_error)
}
