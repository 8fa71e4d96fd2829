import { type Html, html } from '../html.ts'

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A time; scripts show it as "3 hours ago" and keep that true, with the exact local time as the title. */
export function moment(at: Date): Html {
  const exact = `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return html`<time class="ago" datetime="${at.toISOString()}" title="${exact}">${dayText(at)}</time>`
}

/** 3 Feb 2026, in UTC. */
export const dayText = (at: Date) => `${at.getUTCDate()} ${months[at.getUTCMonth()]} ${at.getUTCFullYear()}`
