/**
 * The database did not answer in time. The work was not done, unless the answer to a commit was lost. Clients get 503; background work is
 * repeated.
 */
export class DatabaseUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
  }
}

/** The storage of large files failed. Clients get 503; background work is repeated. */
export class StorageUnavailable extends Error {
  /** What happened, for operators: a code of S3 such as `NoSuchBucket`, or one of the system. */
  readonly fault: string
  /** Whether the same request may succeed a moment later. */
  readonly may_pass: boolean

  constructor(fault: string, may_pass: boolean, cause?: unknown) {
    super('The storage of large files does not work at the moment. Try again in a few seconds.', { cause })
    this.fault = fault
    this.may_pass = may_pass
  }
}

export const unreachable = (cause?: unknown) =>
  new DatabaseUnavailable('The database is not reachable at the moment. Try again in a few seconds.', cause)

const overloaded = (cause: unknown) =>
  new DatabaseUnavailable('The database did not answer in time. Try again in a few seconds.', cause)

/** The SQLSTATE of a database error, or the system's code of a failed connection. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** System errors of unreachable servers and broken connections. */
const systemCodes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTCONN'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'EAI_AGAIN', 'ENOTFOUND'],
])

/** Driver errors without a code. */
const driverMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client (has encountered|was closed))/

/** Connection exceptions, sessions that the server ended, transactions that were idle too long, and writes to a server that became a standby. */
const lost = /^(08...|57P0.|25P03|25P04|25006)$/

/** Whether the connection is lost, or could not be made. */
export function isDisconnected(error: unknown): boolean {
  const code = codeOf(error)
  if (code === undefined) return error instanceof Error && driverMessages.test(error.message)
  // A missing socket means that a local server is down. Missing files have the same code.
  if (code === 'ENOENT') return (error as NodeJS.ErrnoException).syscall === 'connect'
  return systemCodes.has(code) || lost.test(code)
}

/** Lock and statement time-outs, insufficient resources such as connections, and conflicts that retries did not solve. */
const busy = /^(55P03|57014|53...|40001|40P01)$/

/** Translates driver errors into DatabaseUnavailable. */
export function explain(error: unknown): unknown {
  if (isDisconnected(error)) return unreachable(error)
  return busy.test(codeOf(error) ?? '') ? overloaded(error) : error
}
