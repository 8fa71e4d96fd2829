import { activitySchedule, activityTasks } from '#activity/jobs.ts'
import type { Belfry } from '#belfry.ts'
import { pushSchedule, pushTasks } from '#hosting/pushes/jobs.ts'
import { repositoryTasks } from '#hosting/repositories/jobs.ts'
import { startWorker, type Worker } from '#platform/queue.ts'

/** Every task there is, and those that run by the clock. */
export function openWorker({ db, storage, log }: Belfry): Promise<Worker> {
  const tasks = { ...repositoryTasks(db, storage), ...pushTasks(db, storage), ...activityTasks(db) }
  return startWorker(db.pool, tasks, [...pushSchedule, ...activitySchedule], log)
}
