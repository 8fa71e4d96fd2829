import type { Logger } from '#platform/log.ts'
import { DatabaseUnavailable, isDisconnected } from '#platform/unavailable.ts'

/** Logs an outage of the database, which is expected and retried, at debug; any other error is a bug. */
export function logFailure(log: Logger, error: unknown, message: string, fields: object = {}) {
  const outage = error instanceof DatabaseUnavailable || isDisconnected(error)
  log[outage ? 'debug' : 'error']({ err: error, ...fields }, message)
}
