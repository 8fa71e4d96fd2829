import { type Html, html } from '#web/html.ts'

/** Outcomes are shown by text and a sign, because colour alone is not accessible. */
export type Sign = 'good' | 'bad' | 'none' | 'wait'

const signs: Record<Sign, string> = {
  good: 'M4 8.5 7 11.5 12.5 5',
  bad: 'M5 5 11 11 M11 5 5 11',
  none: 'M4.5 8 H11.5',
  wait: 'M8 4.5 V8.5 H11',
}

export function signMark(sign: Sign): Html {
  return html`<svg class="sign ${sign}" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><circle cx="8" cy="8" r="8"/><path d="${signs[sign]}"/></svg>`
}

export const outcomeMark = (sign: Sign, text: string | Html) =>
  html`<span class="outcome ${sign}">${signMark(sign)} <span>${text}</span></span>`

interface Delivered {
  status: string
  status_code: number
}

/** Like the filter of the list, below 400 is a success; but a redirect is not followed, so it is shown as neither. */
export const signOf = ({ status_code }: Pick<Delivered, 'status_code'>): Sign =>
  status_code >= 400 ? 'bad' : status_code >= 300 ? 'none' : 'good'

/** For example `200 OK`, `404 refused`, `timed out`. */
export function outcomeText({ status, status_code }: Delivered): string {
  if (!/^(OK|Invalid HTTP Response: \d+)$/.test(status)) return status
  if (status_code < 300) return `${status_code} OK`
  return status_code < 400
    ? `${status_code}, not followed`
    : `${status_code} ${status_code < 500 ? 'refused' : 'receiver failed'}`
}

interface LastResponse {
  last_code: number | null
  last_message: string | null
  quiet: boolean
}

export function lastMark({ last_code, last_message, quiet }: LastResponse): Html {
  if (quiet) return outcomeMark('none', 'Nothing sent for 30 days')
  if (last_code === null) return outcomeMark('none', 'Nothing sent yet')
  const last = { status_code: last_code, status: last_message ?? 'failed' }
  return outcomeMark(signOf(last), `Last delivery: ${outcomeText(last)}`)
}

export function formatDuration(seconds: number | null): string {
  if (seconds === null) return '–'
  const milliseconds = seconds * 1000
  if (milliseconds < 1) return 'under 1 ms'
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`
  return `${seconds.toFixed(seconds < 9.95 ? 1 : 0)} s`
}

/** With seconds, because many deliveries happen in a minute. */
export function exactTime(at: Date): Html {
  const text = at.toISOString()
  return html`<time datetime="${text}">${text.slice(0, 19).replace('T', ' ')} UTC</time>`
}

export const amount = (number: number) => number.toLocaleString('en-US')
