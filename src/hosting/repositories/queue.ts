import type { Transaction } from '#platform/database.ts'
import { enqueue } from '#platform/queue.ts'

/** Enqueues the job that finds the main language and the license of the default branch. Call it when that branch moves or is another one. */
export const enqueueDescription = (db: Transaction, repo_id: number) =>
  enqueue(db, 'describe_contents', { repo_id }, { key: `describe ${repo_id}` })

/**
 * Enqueues the job that removes the folder of a deleted repository. A git process that receives a push may create a part of the folder
 * again, so this is also called when such a process has ended.
 */
export const enqueueErasure = (db: Transaction, { id, network_id }: { id: number; network_id: number }) =>
  enqueue(db, 'erase_repository', { repo_id: id, network_id }, { key: `erase ${id}` })
