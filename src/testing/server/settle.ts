import type { Belfry } from '#belfry.ts'
import { sql } from '#platform/database.ts'
import { openWorker } from '#worker.ts'

/** Milliseconds after which the rest is left to the worlds. */
const patience = 10_000

/** Runs the jobs that a seed left, so that no reset has to run them again. */
export async function settle(belfry: Belfry) {
  if (!(await hasWork(belfry))) return
  const worker = await openWorker(belfry)
  const deadline = performance.now() + patience
  while ((await hasWork(belfry)) && performance.now() < deadline) {
    await new Promise<void>((resolve) => {
      const off = belfry.db.onTransactionEnd(end)
      const timer = setTimeout(end, 20)
      function end() {
        off()
        clearTimeout(timer)
        resolve()
      }
    })
  }
  await worker.stop()
}

async function hasWork({ db }: Belfry) {
  const row = await db.first(sql`
    select where exists (select from graphile_worker.jobs where run_at <= now() and attempts < max_attempts)
      or exists (select from pending_deliveries)`)
  return row !== undefined
}
