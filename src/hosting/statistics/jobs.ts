import type { Storage } from '#git/storage.ts'
import { unlessDeleted } from '#identity/deletion.ts'
import type { Database } from '#platform/database.ts'
import type { Task } from '#platform/queue.ts'
import { describeContents } from './describe-contents.ts'

export function statisticsTasks(db: Database, storage: Storage): Record<string, Task> {
  return {
    describe_contents: ({ repo_id }: { repo_id: number }) =>
      unlessDeleted(db, { repo_ids: [repo_id] }, () => describeContents(db, storage, repo_id)),
  }
}
