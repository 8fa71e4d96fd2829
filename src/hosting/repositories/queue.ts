import type { Transaction } from '#platform/database.ts'
import { enqueue } from '#platform/queue.ts'

/** Enqueues the job that finds the main language and the license of the default branch. Call it when that branch moves or is another one. */
export const enqueueDescription = (db: Transaction, repo_id: number) =>
  enqueue(db, 'describe_contents', { repo_id }, { key: `describe ${repo_id}` })
