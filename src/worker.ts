import { activitySchedule, activityTasks } from '#activity/jobs.ts'
import type { Belfry } from '#belfry.ts'
import { pullTasks } from '#hosting/pulls/jobs.ts'
import { pushSchedule, pushTasks } from '#hosting/pushes/jobs.ts'
import { repositoryTasks } from '#hosting/repositories/jobs.ts'
import { notificationSchedule, notificationTasks } from '#parts/notifications/jobs.ts'
import { startWorker, type Worker } from '#platform/queue.ts'

/** Every task there is, and those that run by the clock. */
export function openWorker({ db, storage, log }: Belfry): Promise<Worker> {
  const tasks = {
    ...repositoryTasks(db, storage),
    ...pushTasks(db, storage),
    ...pullTasks(db, storage),
    ...activityTasks(db),
    ...notificationTasks(db),
  }
  return startWorker(db.pool, tasks, [...pushSchedule, ...activitySchedule, ...notificationSchedule], log)
}
