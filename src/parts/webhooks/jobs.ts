import type { Database } from '#platform/database.ts'
import type { Scheduled, Task } from '#platform/queue.ts'
import { purgeHooks } from './delete.ts'
import { notifyPaused } from './pauses.ts'

export function webhookTasks(db: Database): Record<string, Task> {
  return {
    purge_hooks: () => purgeHooks(db),
    /** Added by the trigger that pauses a hook. */
    hook_paused: ({ hook_id }: { hook_id: number }) => db.transaction((transaction) => notifyPaused(transaction, hook_id)),
  }
}

export const webhookSchedule: Scheduled[] = [{ task: 'purge_hooks', match: '50 3 * * *' }]
