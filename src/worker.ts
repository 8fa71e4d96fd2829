import type { Belfry } from '#belfry.ts'
import { repositoryTasks } from '#hosting/repositories/jobs.ts'
import { startWorker, type Worker } from '#platform/queue.ts'

/** Every task there is. */
export function openWorker({ db, storage, log }: Belfry): Promise<Worker> {
  return startWorker(db.pool, { ...repositoryTasks(db, storage) }, log)
}
