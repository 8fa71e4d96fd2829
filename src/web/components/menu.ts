import { type Html, html } from '../html.ts'
import { icon } from './icon.ts'

export type MenuItem =
  /** `icon`: an empty name leaves its space free. `replace`: the page is replaced in place, and keeps its scroll position. */
  | { text: string | Html; href: string; icon?: string; current?: boolean; replace?: boolean }
  /** A form or other markup. */
  | { markup: Html }
  | 'divider'

interface MenuOptions {
  /** Needed if the summary has no text. */
  label?: string
  align?: 'start' | 'end'
  kind?: string
  /** For scripts that open it by a key. */
  key?: string
}

/** A button that opens a list. Works without scripts; with them, Escape and a click elsewhere close it. */
export function menu(summary: Html, items: MenuItem[], { label, align = 'end', kind = '', key }: MenuOptions = {}): Html {
  return html`<details class="menu ${align} ${kind}"${key && html` data-key="${key}"`}><summary${label && html` aria-label="${label}" title="${label}"`}>${summary}</summary><ul>${items.map(row)}</ul></details>`
}

/** A button that asks before it acts: it opens a question, and the form that answers it. Works without scripts. */
export function askMenu(summary: Html, question: string | Html, answer: Html, options: MenuOptions = {}): Html {
  return menu(summary, [{ markup: html`<p>${question}</p>${answer}` }], { ...options, kind: 'question' })
}

function row(item: MenuItem): Html {
  if (item === 'divider') return html`<li class="divider" role="separator"></li>`
  if ('markup' in item) return html`<li>${item.markup}</li>`
  return html`<li><a href="${item.href}"${item.current && html` aria-current="true"`}${item.replace && html` data-turbo-action="replace"`}>${item.icon ? icon(item.icon) : item.icon === '' && html`<span class="no-icon"></span>`}<span>${item.text}</span></a></li>`
}
