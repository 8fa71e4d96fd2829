import type { Storage } from '#git/storage.ts'
import { type Database, sql } from '#platform/database.ts'
import type { Scheduled, Task } from '#platform/queue.ts'
import { forgetOriginals, withdrawUnknown } from './import-refs.ts'
import { settlePushes } from './pushes.ts'

export function pushTasks(db: Database, storage: Storage): Record<string, Task> {
  return {
    /** The server of a slow push may have ended. Each repository has its own job, so that none waits for another. */
    find_open_pushes: async () => {
      await db.query(sql`
        select graphile_worker.add_job('settle_pushes', json_build_object('repo_id', repo_id), job_key := 'settle ' || repo_id)
        from (select distinct repo_id from pushes where started_at < ${db.now}::timestamptz - interval '1 minute') slow`)
    },
    settle_pushes: async ({ repo_id }: { repo_id: number }) => {
      await settlePushes(db, storage, repo_id)
    },
    forget_originals: ({ repo_id }: { repo_id: number }) => forgetOriginals(db, storage, repo_id),
    withdraw_refs: ({ repo_id }: { repo_id: number }) => withdrawUnknown(db, storage, repo_id),
    maintain_repository: async ({ repo_id }: { repo_id: number }) => {
      if (storage.has(repo_id)) await storage.maintain(repo_id)
    },
  }
}

export const pushSchedule: Scheduled[] = [{ task: 'find_open_pushes', match: '* * * * *' }]
