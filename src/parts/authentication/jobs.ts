import { slowRecoveryCodes } from '#identity/recovery-codes.ts'
import type { Database } from '#platform/database.ts'
import type { Task } from '#platform/queue.ts'

export function authenticationTasks(db: Database): Record<string, Task> {
  return {
    slow_recovery_codes: () => slowRecoveryCodes(db),
  }
}
