import type { Belfry } from '#belfry.ts'
import { sql } from '#platform/database.ts'
import { openWorker } from '#worker.ts'

/** Milliseconds after which the rest is left to the worlds. */
const patience = 10_000

/** Runs the jobs that a seed left, so that no reset has to run them again. */
export async function settle(belfry: Belfry) {
  if (!(await countWork(belfry))) return
  const worker = await openWorker(belfry)
  await untilSettled(belfry, AbortSignal.timeout(patience))
  await worker.stop()
}

/** Waits until no job and no delivery is due. Returns how many are when `signal` is aborted. */
export async function untilSettled(belfry: Belfry, signal: AbortSignal): Promise<number> {
  for (;;) {
    const ended = Promise.withResolvers<void>()
    // Before the look, so that no transaction is missed that ends in the meantime. The timer is for those of the queue.
    const off = belfry.db.onTransactionEnd(() => ended.resolve())
    const timer = setTimeout(ended.resolve, 20)
    try {
      const due = await countWork(belfry)
      if (!due || signal.aborted) return due
      await ended.promise
    } finally {
      off()
      clearTimeout(timer)
    }
  }
}

/** Without retries, which wait for a later time. */
async function countWork({ db }: Belfry) {
  const { due } = await db.load<{ due: number }>(sql`
    select (select count(*) from graphile_worker.jobs where run_at <= now() and attempts < max_attempts)::int
      + (select count(*) from pending_deliveries where ready_at <= ${db.now})::int as due`)
  return due
}
