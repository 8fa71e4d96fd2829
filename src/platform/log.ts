import { createRequire } from 'node:module'
import { type Logger, pino } from 'pino'
import { DatabaseUnavailable, explain } from './unavailable.ts'

export type { Logger }
export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** Logs go to standard error, for people in a terminal and as JSON lines elsewhere; standard output is for the start screen. */
export function openLog(level: LogLevel): Logger {
  if (!process.stderr.isTTY) return pino({ level, base: null }, pino.destination(2))
  // Loaded for people only: a server under a supervisor needs none of it.
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty')
  const pretty = prettyFactory({ colorize: true, translateTime: 'SYS:HH:MM:ss.l', singleLine: true })
  return pino({ level, base: null }, { write: (line: string) => void process.stderr.write(pretty(line)) })
}

/**
 * Logs a failure in work that is tried again. A bug is an error and has its stack; an outage of the database is logged once, when it begins,
 * so each attempt during the outage is for debugging only.
 */
export function logFailure(log: Logger, error: unknown, message: string, fields: object = {}) {
  log[explain(error) instanceof DatabaseUnavailable ? 'debug' : 'error']({ err: error, ...fields }, message)
}

/** Query parameters that carry a secret somewhere in the interface, and names that others give to such. */
const secretName = /(?:token|secret|password|code|verifier|otp)$/i
const ownToken = /\bbf[a-z]_\w+/g

/** An address as it may be written down. */
export function withoutSecrets(url: string) {
  const mark = url.indexOf('?')
  if (mark < 0) return url.replace(ownToken, '…')
  const pairs = url.slice(mark + 1).split('&')
  const shown = pairs.map((pair) => (secretName.test(nameOf(pair)) ? `${pair.split('=', 1)[0]}=…` : pair))
  return `${url.slice(0, mark)}?${shown.join('&')}`.replace(ownToken, '…')
}

/** Servers read `access%5Ftoken` as `access_token`, and so must we. */
function nameOf(pair: string) {
  const [name = ''] = new URLSearchParams(pair).keys()
  return name
}
