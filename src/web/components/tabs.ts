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

export interface Panel {
  /** Identifies the panel: scripts remember which one was chosen last, see assets/tabs.js. */
  key: string
  text: string
  body: Html
}

/** A few texts of which one is shown, as the same request in several languages. Works without scripts. `id` is unique on the page. */
export function panels(label: string, id: string, items: Panel[], remembered?: string): Html {
  const choices = items.map(
    ({ key, text }, index) =>
      html`<input type="radio" class="unseen" name="${id}" id="${id}-${key}" value="${key}"${index === 0 && html` checked`}><label for="${id}-${key}">${text}</label>`,
  )
  return html`<fieldset class="panels"${remembered && html` data-remember="${remembered}"`}><legend class="unseen">${label}</legend>${choices}${items.map(({ body }) => html`<div class="panel">${body}</div>`)}</fieldset>`
}
