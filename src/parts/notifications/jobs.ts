import { forgetDates } from '#http/dated.ts'
import type { Database } from '#platform/database.ts'
import type { Scheduled, Task } from '#platform/queue.ts'
import { forgetThreads, pruneThreads, tell } from './fan-out.ts'
import { type MarkInBackground, markInBackground } from './marking.ts'

export function notificationTasks(db: Database): Record<string, Task> {
  return {
    tell: ({ subject_id }: { subject_id: number }) => tell(db, subject_id),
    mark_read: (mark: MarkInBackground) => markInBackground(db, mark),
    forget_threads: async (gone: { user_ids?: number[]; subject_ids?: number[] }) => {
      while (await db.transaction((transaction) => forgetThreads(transaction, gone)));
    },
    prune_threads: async () => {
      while (await db.transaction((transaction) => pruneThreads(transaction)));
      await forgetDates(db)
    },
  }
}

export const notificationSchedule: Scheduled[] = [{ task: 'prune_threads', match: '40 3 * * *' }]
