import type { Database } from '#platform/database.ts'
import type { Scheduled, Task } from '#platform/queue.ts'
import { purgeHooks } from './hooks.ts'

export function webhookTasks(db: Database): Record<string, Task> {
  return {
    purge_hooks: () => purgeHooks(db),
  }
}

export const webhookSchedule: Scheduled[] = [{ task: 'purge_hooks', match: '50 3 * * *' }]
