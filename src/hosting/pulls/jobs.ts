import type { Storage } from '#git/storage.ts'
import type { Database } from '#platform/database.ts'
import type { Task } from '#platform/queue.ts'
import { catchUpPull, type Followed, followBranch } from './following.ts'
import type { Caught } from './queue.ts'

/** Jobs that update pull requests after a push. Each may run twice and changes nothing the second time. */
export function pullTasks(db: Database, storage: Storage): Record<string, Task> {
  return {
    follow_branch: (moved: Followed) => followBranch(db, storage, moved),
    catch_up_pull: (caught: Caught) => catchUpPull(db, storage, caught),
  }
}
