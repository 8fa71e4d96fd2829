import { type Html, html } from '../html.ts'
import { icon } from './icon.ts'

/** Shown instead of an empty list: what would be here, and how it gets here. */
export function emptyState(name: string, title: string, text?: string | Html, action?: Html, heading: 'h1' | 'h2' = 'h2'): Html {
  const head = heading === 'h1' ? html`<h1>${title}</h1>` : html`<h2>${title}</h2>`
  return html`<div class="empty-state">${icon(name, { size: 24 })}${head}${text && html`<p>${text}</p>`}${action && html`<p class="buttons">${action}</p>`}</div>`
}
