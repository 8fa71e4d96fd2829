import { activitySchedule, activityTasks } from '#activity/jobs.ts'
import type { Belfry } from '#belfry.ts'
import { lfsSchedule, lfsTasks } from '#hosting/lfs/jobs.ts'
import { maintenanceSchedule, maintenanceTasks } from '#hosting/maintenance/jobs.ts'
import { pullTasks } from '#hosting/pulls/jobs.ts'
import { pushSchedule, pushTasks } from '#hosting/pushes/jobs.ts'
import { settleAll } from '#hosting/pushes/pushes.ts'
import { repositoryTasks } from '#hosting/repositories/jobs.ts'
import { statisticsTasks } from '#hosting/statistics/jobs.ts'
import { authenticationTasks } from '#parts/authentication/jobs.ts'
import { importSchedule, importTasks, openImports } from '#parts/imports/jobs.ts'
import { notificationSchedule, notificationTasks } from '#parts/notifications/jobs.ts'
import { webhookSchedule, webhookTasks } from '#parts/webhooks/jobs.ts'
import { openSender } from '#parts/webhooks/sending/jobs.ts'
import { logFailure } from '#platform/log.ts'
import { startWorker, type Worker } from '#platform/queue.ts'

const notRecorded = 'could not record a push; Belfry tries again every minute'

export interface BelfryWorker extends Worker {
  /** Sends no more webhooks. Those in flight are cut off after `patience` milliseconds. */
  stopSending(patience?: number): Promise<void>
}

/** Runs all tasks, the webhook sender and the import runner. */
export async function openWorker(belfry: Belfry): Promise<BelfryWorker> {
  const { db, storage, files, log, settings } = belfry
  const tasks = {
    ...repositoryTasks(db, storage),
    ...lfsTasks(db, files),
    ...pushTasks(db, storage),
    ...maintenanceTasks(db, storage, log),
    ...pullTasks(db, storage),
    ...statisticsTasks(db, storage),
    ...activityTasks(db),
    ...authenticationTasks(db),
    ...notificationTasks(db),
    ...webhookTasks(db, storage),
    ...importTasks(db, settings.BELFRY_IMPORT_KEEP),
  }
  const schedule = [
    ...lfsSchedule,
    ...pushSchedule,
    ...maintenanceSchedule,
    ...activitySchedule,
    ...notificationSchedule,
    ...webhookSchedule,
    ...importSchedule,
  ]
  // Pushes that could not be recorded during an outage are recorded at once, not at the next scheduled run.
  const off = db.health.onChange((away) => {
    if (away) return
    db.withBackgroundTimeouts(() => settleAll(db, storage)).then(
      (failures) => {
        for (const { repo_id, error } of failures) logFailure(log, error, notRecorded, { repo_id })
      },
      (error) => logFailure(log, error, notRecorded),
    )
  })
  const worker = await startWorker(db, tasks, schedule, log)
  const sender = openSender(belfry)
  const imports = openImports(belfry)
  let sent: Promise<void> | undefined
  const stopSending = (patience?: number) => {
    sent ??= sender.stop(patience)
    return sent
  }
  return {
    stopSending,
    async stop() {
      off()
      await Promise.all([worker.stop(), stopSending(), imports.stop()])
    },
  }
}
