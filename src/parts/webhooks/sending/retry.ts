import type { Exchange } from './exchange.ts'

/** The first pause between two tries of one delivery, and the longest, in seconds. */
const first = 10
const longest = 3600

/** Seconds until a delivery that failed is tried again: longer each time, and not all at the same moment. 410 says not to come again. */
export function retryIn(status_code: number, attempts: number, retries: number, answer: Exchange | undefined): number | null {
  if ((status_code >= 200 && status_code < 300) || status_code === 410 || attempts >= retries) return null
  const pause = Math.min(first * 4 ** attempts, longest)
  const spread = pause * (0.5 + Math.random() / 2)
  return Math.max(spread, Math.min(secondsAsked(answer), longest))
}

/** How long a receiver that is overloaded asks to be left alone. */
export function retryAfter(answer: Exchange | undefined): number | null {
  return answer && [429, 503].includes(answer.status_code) ? secondsAsked(answer) : null
}

/** A number of seconds, or a moment by the receiver's own clock, which tells its time in the same answer. */
function secondsAsked(answer: Exchange | undefined): number {
  const { 'retry-after': asked = '', date = '' } = answer?.headers ?? {}
  if (/^\d{1,9}$/.test(asked)) return Number(asked)
  const seconds = (Date.parse(asked) - Date.parse(date)) / 1000
  return seconds > 0 ? seconds : 0
}
