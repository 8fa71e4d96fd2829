import { deleteOldValidators } from '#http/response-validators.ts'
import type { Database } from '#platform/database.ts'
import { enqueue, type Scheduled, type Task } from '#platform/queue.ts'
import { deleteOldChanges } from '#platform/topics.ts'
import { fanOut, forgetThreads, pruneThreads } from './fan-out.ts'
import { deleteOldSnapshots } from './list-snapshots.ts'
import { type MarkInBackground, markInBackground } from './mark-read.ts'
import { wakeThreads } from './snooze.ts'

export function notificationTasks(db: Database): Record<string, Task> {
  return {
    tell: ({ subject_id }: { subject_id: number }) => fanOut(db, subject_id),
    mark_read: (mark: MarkInBackground) => markInBackground(db, mark),
    /** Here and below, each batch is a job of its own, because there may be millions of rows, and a stop waits for running jobs. */
    forget_threads: (gone: { user_ids?: number[]; subject_ids?: number[] }) =>
      db.transaction(async (transaction) => {
        if (await forgetThreads(transaction, gone)) await enqueue(transaction, 'forget_threads', gone)
      }),
    wake_threads: () => wakeThreads(db),
    prune_threads: () =>
      db.transaction(async (transaction) => {
        if (await pruneThreads(transaction)) await enqueue(transaction, 'prune_threads', {})
        else {
          await deleteOldValidators(transaction)
          await deleteOldSnapshots(transaction)
        }
      }),
    prune_topics: () => deleteOldChanges(db),
  }
}

export const notificationSchedule: Scheduled[] = [
  { task: 'wake_threads', match: '* * * * *' },
  { task: 'prune_threads', match: '40 3 * * *' },
  { task: 'prune_topics', match: '*/5 * * * *' },
]
