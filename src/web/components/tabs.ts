import { type Html, html } from '../html.ts'
import { icon } from './icon.ts'
import { counter } from './label.ts'

export interface Tab {
  text: string
  href: string
  current?: boolean
  icon?: string
  count?: number | string | undefined
}

/** Links to the pages of one subject; the current one is underlined. */
export function tabs(label: string, items: Tab[]): Html {
  return html`<nav class="tabs" aria-label="${label}"><ul>${items.map(
    ({ text, href, current = false, icon: name, count }) =>
      html`<li><a href="${href}"${current && html` aria-current="page"`}>${name && icon(name)}<span>${text}</span>${count !== undefined && count !== 0 && counter(count)}</a></li>`,
  )}</ul></nav>`
}

/** A few exclusive choices in a row, as Open and Closed. */
export function segments(label: string, items: Tab[]): Html {
  return html`<nav class="segments" aria-label="${label}">${items.map(
    ({ text, href, current = false, icon: name, count }) =>
      html`<a href="${href}"${current && html` aria-current="true"`}>${name && icon(name)}<span>${text}</span>${count !== undefined && counter(count)}</a>`,
  )}</nav>`
}
