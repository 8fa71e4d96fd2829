import type { Storage } from '#git/storage.ts'
import { unlessDeleted } from '#identity/deletion.ts'
import { type Database, sql } from '#platform/database.ts'
import type { Scheduled, Task } from '#platform/queue.ts'
import { forgetOriginals, withdrawUnknown } from './import-refs.ts'
import { settlePushes } from './pushes.ts'

export function pushTasks(db: Database, storage: Storage): Record<string, Task> {
  const inRepository = (work: (repo_id: number) => Promise<unknown>) => (job: { repo_id: number }) =>
    unlessDeleted(db, { repo_ids: [job.repo_id] }, () => work(job.repo_id))
  return {
    /** The server of a slow push may have ended. Each repository has its own job, so that none waits for another. */
    find_open_pushes: async () => {
      await db.query(sql`
        select graphile_worker.add_job('settle_pushes', json_build_object('repo_id', repo_id), job_key := 'settle ' || repo_id)
        from (select distinct repo_id from pushes where started_at < ${db.now}::timestamptz - interval '1 minute') slow`)
    },
    settle_pushes: inRepository((repo_id) => settlePushes(db, storage, repo_id)),
    forget_originals: inRepository((repo_id) => forgetOriginals(db, storage, repo_id)),
    withdraw_refs: inRepository((repo_id) => withdrawUnknown(db, storage, repo_id)),
    maintain_repository: inRepository(async (repo_id) => {
      if (storage.has(repo_id)) await storage.maintain(repo_id)
    }),
  }
}

export const pushSchedule: Scheduled[] = [{ task: 'find_open_pushes', match: '* * * * *' }]
