import { assetAddress } from './assets.ts'
import { type Html, html } from './html.ts'

/** A page with one question or form in its middle, below the brand: signing in, authorizing, installing. */
export function cardPage(title: string, body: Html): Html {
  return html`<main class="narrow"><div class="narrow-head"><img src="${assetAddress('belfry.svg')}" alt="" width="48" height="48"><h1>${title}</h1></div>${body}</main>`
}
