import { lfsRoot } from '#git/lfs-store.ts'
import type { Database } from '#platform/database.ts'
import type { Scheduled, Task } from '#platform/queue.ts'
import { sweepStore } from './sweep.ts'

/** Longer than an import takes between storing contents and recording them. */
const daysKept = 7

export function lfsTasks(db: Database, data: string): Record<string, Task> {
  return {
    /** Deletes contents of deleted repositories, and unfinished uploads. */
    sweep_lfs: async () => {
      await sweepStore(db, lfsRoot(data), new Date(db.now.getTime() - daysKept * 86_400_000))
    },
  }
}

export const lfsSchedule: Scheduled[] = [{ task: 'sweep_lfs', match: '50 3 * * *' }]
