import type { Storage } from '#git/storage.ts'
import type { Database } from '#platform/database.ts'
import type { Task } from '#platform/queue.ts'
import { goOn } from './run-replay.ts'

export function replayTasks(db: Database, storage: Storage): Record<string, Task> {
  return {
    replay: ({ replay_id }: { replay_id: number }) => goOn(db, storage, replay_id),
  }
}
