import { type Logger, pino } from 'pino'
import { DatabaseUnavailable, explain, StorageUnavailable } from './unavailable.ts'

export type { Logger }
export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** Loaded only for a terminal. */
const formatter = process.stderr.isTTY ? await import('pino-pretty') : undefined

/** Logs go to standard error: formatted in a terminal, as JSON lines otherwise. Standard output is for the start screen. */
export function openLog(level: LogLevel): Logger {
  if (!formatter) return pino({ level, base: null }, pino.destination(2))
  const pretty = formatter.prettyFactory({ colorize: true, translateTime: "UTC:yyyy-mm-dd'T'HH:MM:ss.l'Z'", singleLine: true })
  return pino({ level, base: null }, { write: (line: string) => void process.stderr.write(pretty(line)) })
}

/**
 * Logs a failure in work that is tried again. A bug is an error and has its stack; an outage of the database or of the storage is logged once, when it begins,
 * so each attempt during the outage is for debugging only.
 */
export function logFailure(log: Logger, error: unknown, message: string, fields: object = {}) {
  const is_outage = explain(error) instanceof DatabaseUnavailable || error instanceof StorageUnavailable
  log[is_outage ? 'debug' : 'error']({ err: error, ...fields }, message)
}

/** Names of query parameters that carry a secret. */
const secretName = /(?:token|secret|password|code|verifier|otp)$/i
const ownToken = /\bbf[a-z]_\w+/g

/** A URL without its secrets, for logs. */
export function withoutSecrets(url: string) {
  const mark = url.indexOf('?')
  if (mark < 0) return url.replace(ownToken, '…')
  const pairs = url.slice(mark + 1).split('&')
  const shown = pairs.map((pair) => (secretName.test(nameOf(pair)) ? `${pair.split('=', 1)[0]}=…` : pair))
  return `${url.slice(0, mark)}?${shown.join('&')}`.replace(ownToken, '…')
}

/** Servers read `access%5Ftoken` as `access_token`, so we decode names too. */
function nameOf(pair: string) {
  const [name = ''] = new URLSearchParams(pair).keys()
  return name
}
