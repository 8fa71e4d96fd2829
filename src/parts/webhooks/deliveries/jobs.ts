import type { Database } from '#platform/database.ts'
import type { Scheduled, Task } from '#platform/queue.ts'
import { forgetDeliveries } from './retention.ts'

export function deliveryTasks(db: Database): Record<string, Task> {
  return {
    forget_deliveries: () => forgetDeliveries(db),
  }
}

export const deliverySchedule: Scheduled[] = [{ task: 'forget_deliveries', match: '10 4 * * *' }]
