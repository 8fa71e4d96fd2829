import { type Html, html } from '../html.ts'
import { icon } from './icon.ts'

/** Copies a text. Without scripts it is hidden. */
export function copyButton(text: string, label = 'Copy'): Html {
  return html`<button type="button" class="button invisible small copy" data-copy="${text}" aria-label="${label}" title="${label}" hidden>${icon('copy')}</button>`
}

/** A line that people copy, as an address or a command. */
export function copyLine(text: string, label: string): Html {
  return html`<div class="copy-line"><input readonly value="${text}" aria-label="${label}" spellcheck="false">${copyButton(text, `Copy: ${label}`)}</div>`
}
