import type { Database } from '#platform/database.ts'
import type { FileStore } from '#platform/file-store/file-store.ts'
import type { Scheduled, Task } from '#platform/queue.ts'
import { sweepStore } from './sweep.ts'

/** Longer than an import takes between storing contents and recording them. */
const daysKept = 7

export function lfsTasks(db: Database, files: FileStore): Record<string, Task> {
  return {
    /** Deletes contents of deleted repositories, and unfinished uploads. */
    sweep_lfs: async () => {
      await sweepStore(db, files, new Date(db.now.getTime() - daysKept * 86_400_000))
    },
  }
}

export const lfsSchedule: Scheduled[] = [{ task: 'sweep_lfs', match: '50 3 * * *' }]
