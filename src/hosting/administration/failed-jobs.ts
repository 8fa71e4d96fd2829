import { type Administrator, recordAudit } from '#activity/audit.ts'
import type { Transaction } from '#platform/database.ts'
import { discardFailedJob, retryFailedJob } from '#platform/failed-jobs.ts'

export async function retryJob(db: Transaction, admin: Administrator, id: number) {
  await retryFailedJob(db, id)
  await recordAudit(db, admin, 'job.retry', `job ${id}`)
}

export async function discardJob(db: Transaction, admin: Administrator, id: number) {
  await discardFailedJob(db, id)
  await recordAudit(db, admin, 'job.discard', `job ${id}`)
}
