import type { Database } from '#platform/database.ts'
import type { Scheduled, Task } from '#platform/queue.ts'
import { daysKept } from '#variants.ts'
import { forgetEvents, forgetRepository } from './log.ts'

export function activityTasks(db: Database): Record<string, Task> {
  return {
    /** Timelines skip the events of deleted repositories; many of them would slow every read. */
    forget_repository: async ({ repo_id }: { repo_id: number }) => {
      while (await db.transaction((transaction) => forgetRepository(transaction, repo_id)));
    },
    /** Months that no timeline shows any more are dropped as whole tables. */
    forget_events: async () => {
      const kept_since = new Date(db.now.getTime() - daysKept * 86_400_000)
      await db.transaction((transaction) => forgetEvents(transaction, kept_since))
    },
  }
}

export const activitySchedule: Scheduled[] = [{ task: 'forget_events', match: '20 3 * * *' }]
