import type { Belfry } from '#belfry.ts'
import type { Database } from '#platform/database.ts'
import type { Scheduled, Task } from '#platform/queue.ts'
import { addressesOf } from './availability.ts'
import { eraseOldCredentials } from './credentials.ts'
import { Runner } from './runner/runner.ts'
import { deleteExpiredStages } from './stages.ts'

const megabyte = 2 ** 20
const hour = 3_600_000
/** The disk space that an import leaves free. */
const spare = 256 * megabyte
/** In milliseconds without progress. */
const idle = 600_000

export function openImports({ db, storage, files, vault, log, settings }: Belfry): Runner {
  const { BELFRY_DATA, BELFRY_IMPORT_DISK, BELFRY_IMPORT_MEMORY, BELFRY_IMPORT_HOURS, BELFRY_IMPORT_KEEP, BELFRY_CA } = settings
  const disk = BELFRY_IMPORT_DISK * megabyte
  const memory = BELFRY_IMPORT_MEMORY * megabyte
  return new Runner({
    ...{ db, storage, files, vault, log, data: BELFRY_DATA },
    addresses: addressesOf(settings),
    certificates: BELFRY_CA,
    keep_days: BELFRY_IMPORT_KEEP,
    limits: { disk, memory, spare, idle, total: BELFRY_IMPORT_HOURS * hour },
  })
}

export function importTasks(db: Database, keep_days: number): Record<string, Task> {
  return {
    erase_import_credentials: () => eraseOldCredentials(db),
    expire_import_stages: () => deleteExpiredStages(db, keep_days),
  }
}

export const importSchedule: Scheduled[] = [
  { task: 'erase_import_credentials', match: '20 * * * *' },
  // Before the nightly job that erases contents without a row.
  { task: 'expire_import_stages', match: '40 3 * * *' },
]
