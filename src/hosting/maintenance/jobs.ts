import type { Storage } from '#git/storage.ts'
import { sweepRepositories } from '#hosting/repositories/sweeping.ts'
import { type Database, sql } from '#platform/database.ts'
import type { Logger } from '#platform/log.ts'
import { enqueue, type Scheduled, type Task } from '#platform/queue.ts'
import { checkSome } from './maintenance.ts'

/** Longer than the time between creating a repository's folder and its row. */
const day = 86_400_000
const daysKept = 90

export function maintenanceTasks(db: Database, storage: Storage, log: Logger): Record<string, Task> {
  return {
    /** Deletes files that killed processes left. */
    sweep_repositories: async () => {
      const removed = await sweepRepositories(db, storage, new Date(db.now.getTime() - day), { inside: true })
      if (removed.length) log.warn({ removed }, 'removed what ended processes had left in the data folder')
    },
    /** Compares disk and database, in batches. */
    check_repositories: async ({ after = 0 }: { after?: number }) => {
      if (after === 0) {
        await db.query(sql`delete from ref_repairs where found_at < ${db.now}::timestamptz - ${daysKept} * interval '1 day'`)
      }
      const last = await checkSome(db, storage, log, after)
      if (last !== undefined) await db.transaction((transaction) => enqueue(transaction, 'check_repositories', { after: last }))
    },
  }
}

export const maintenanceSchedule: Scheduled[] = [
  { task: 'sweep_repositories', match: '20 4 * * *' },
  { task: 'check_repositories', match: '40 4 * * *' },
]
