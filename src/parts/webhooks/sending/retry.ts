import type { Exchange } from './exchange.ts'

/** The first and the longest pause between two attempts of one delivery, in seconds. */
const first = 10
const longest = 3600

/** Seconds until a failed delivery is retried, with exponential backoff and jitter; null for no retry. A 410 asks for no more requests. */
export function retryIn(status_code: number, attempts: number, retries: number, answer: Exchange | undefined): number | null {
  if ((status_code >= 200 && status_code < 300) || status_code === 410 || attempts >= retries) return null
  const pause = Math.min(first * 4 ** attempts, longest)
  const spread = pause * (0.5 + Math.random() / 2)
  return Math.max(spread, Math.min(secondsAsked(answer), longest))
}

/** The pause in seconds that an overloaded receiver asks for. */
export function retryAfter(answer: Exchange | undefined): number | null {
  return answer && [429, 503].includes(answer.status_code) ? secondsAsked(answer) : null
}

/** Retry-After is a number of seconds, or a date by the receiver's clock, which its Date header shows. */
function secondsAsked(answer: Exchange | undefined): number {
  const { 'retry-after': asked = '', date = '' } = answer?.headers ?? {}
  if (/^\d{1,9}$/.test(asked)) return Number(asked)
  const seconds = (Date.parse(asked) - Date.parse(date)) / 1000
  return seconds > 0 ? seconds : 0
}
