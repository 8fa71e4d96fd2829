/**
 * The database did not answer, or not in time. The work was not done, unless the answer to a commit was lost: then it may have been.
 * Clients get 503; background work tries again.
 */
export class DatabaseUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
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

/** What the system says when a server cannot be reached, and what it says when a connection breaks. */
const systemCodes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTCONN'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'EAI_AGAIN', 'ENOTFOUND'],
])

/** Errors of the driver, which have no code. */
const driverMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client (has encountered|was closed))/

/** Connection exceptions, the end of a session by the server's doing, and a transaction that was left open too long. */
const lost = /^(08...|57P0.|25P03|25P04)$/

/** Whether an error means that the connection is gone, or that none could be made. */
export function isDisconnected(error: unknown): boolean {
  const code = codeOf(error)
  if (code === undefined) return error instanceof Error && driverMessages.test(error.message)
  // A server on this machine is down when its socket does not exist. Missing files have the same code.
  if (code === 'ENOENT') return (error as NodeJS.ErrnoException).syscall === 'connect'
  return systemCodes.has(code) || lost.test(code)
}

/** Lock and statement time-outs, too few resources (connections among them), and conflicts that several attempts did not solve. */
const busy = /^(55P03|57014|53...|40001|40P01)$/

/** The error to pass on, so that callers need not know the driver's errors. */
export function explain(error: unknown): unknown {
  if (isDisconnected(error)) return unreachable(error)
  return busy.test(codeOf(error) ?? '') ? overloaded(error) : error
}
