import type { Storage } from '#git/storage.ts'
import type { Database } from '#platform/database.ts'
import type { Scheduled, Task } from '#platform/queue.ts'
import { purgeHooks } from './delete.ts'
import { dropDeliveries } from './deliveries/drop.ts'
import { forgetDeliveries } from './deliveries/retention.ts'
import { notifyPaused } from './pauses.ts'
import { continueReplay } from './replays/run-replay.ts'

export function webhookTasks(db: Database, storage: Storage): Record<string, Task> {
  return {
    purge_hooks: () => purgeHooks(db),
    forget_deliveries: () => forgetDeliveries(db),
    /** Added by the trigger that pauses a hook. */
    hook_paused: ({ hook_id }: { hook_id: number }) => db.transaction((transaction) => notifyPaused(transaction, hook_id)),
    /** Added by the trigger on hooks that become inactive. */
    drop_deliveries: ({ hook_id }: { hook_id: number }) => dropDeliveries(db, hook_id),
    replay: ({ replay_id }: { replay_id: number }) => continueReplay(db, storage, replay_id),
  }
}

export const webhookSchedule: Scheduled[] = [
  { task: 'purge_hooks', match: '50 3 * * *' },
  { task: 'forget_deliveries', match: '10 4 * * *' },
]
