import type { Storage } from '#git/storage.ts'
import { repeated } from '#identity/deletion.ts'
import type { Database } from '#platform/database.ts'
import type { Task } from '#platform/queue.ts'
import { catchUpPull, type Followed, followBranch } from './following.ts'
import type { Caught } from './queue.ts'
import { announceBase, type Retargeted } from './retargeting.ts'

/** Jobs that update pull requests after a push. Each may run twice and changes nothing the second time; `announce_base` may deliver a webhook twice. */
export function pullTasks(db: Database, storage: Storage): Record<string, Task> {
  return {
    follow_branch: (moved: Followed) => repeated(() => followBranch(db, storage, moved)),
    announce_base: (retargeted: Retargeted) => repeated(() => announceBase(db, retargeted)),
    catch_up_pull: (caught: Caught) => repeated(() => catchUpPull(db, storage, caught)),
  }
}
