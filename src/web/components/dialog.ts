import { type Html, html } from '../html.ts'
import { icon } from './icon.ts'

/** A dialog; a button with `data-opens="ID"` opens it by script. What it offers must also be reachable without scripts. */
export function dialog(id: string, title: string, body: Html, kind = ''): Html {
  return html`<dialog id="${id}" class="dialog ${kind}" aria-labelledby="${id}-title"><header><h2 id="${id}-title">${title}</h2>
<form method="dialog"><button class="button invisible" aria-label="Close">${icon('x')}</button></form></header><div class="dialog-body">${body}</div></dialog>`
}
