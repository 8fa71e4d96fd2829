import { ImportFailure, outOfSpace } from '#importer/source.ts'
import { isDiskFull } from '#platform/disk-full.ts'

const internal =
  'An internal error occurred. Restart the import. If it fails again, an administrator finds the reason in the log of this server.'

/** What the user gets. Other details are only for the log, because they may name files and addresses. */
export function describeFailure(error: unknown): { kind: 'error' | 'auth' | 'fault'; message: string } {
  if (error instanceof ImportFailure) return { kind: error.kind, message: error.message }
  return { kind: 'fault', message: isDiskFull(error) ? outOfSpace : internal }
}
