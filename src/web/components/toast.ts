import { type Html, html } from '../html.ts'
import { icon } from './icon.ts'

const icons = { success: 'check-circle', danger: 'alert', attention: 'alert', accent: 'info' } as const

/** A message about what just happened, or about the state of the page. */
export function banner(text: string | Html | undefined, tone: keyof typeof icons = 'success'): Html | undefined {
  if (text === undefined) return undefined
  return html`<div class="banner ${tone}" role="${tone === 'danger' ? 'alert' : 'status'}">${icon(icons[tone])}<div>${text}</div></div>`
}
