import { type Logger, pino } from 'pino'
import { prettyFactory } from 'pino-pretty'

export type { Logger }
export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** Logs go to standard error, for people in a terminal and as JSON lines elsewhere; standard output is for the start screen. */
export function openLog(level: LogLevel): Logger {
  if (!process.stderr.isTTY) return pino({ level, base: null }, pino.destination(2))
  const pretty = prettyFactory({ colorize: true, translateTime: 'SYS:HH:MM:ss.l', singleLine: true })
  return pino({ level, base: null }, { write: (line: string) => void process.stderr.write(pretty(line)) })
}

/** Query parameters that carry a secret somewhere in the interface. */
const secretParameters = /([?&](?:access_token|token|client_secret|code|password|secret|otp)=)[^&#]*/gi

/** An address as it may be written down. */
export function withoutSecrets(url: string) {
  return url.includes('?') ? url.replace(secretParameters, '$1…') : url
}
