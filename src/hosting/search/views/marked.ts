import { wordPattern } from '#hosting/search/text-matches.ts'
import { type Html, html } from '#web/html.ts'

/** A text with the words of the search marked. */
export function marked(text: string, terms: string[]): Html {
  if (!terms.length) return html`${text}`
  const pieces = text.split(new RegExp(`(${wordPattern(terms)})`, 'giu'))
  // Every second piece is what the group matched.
  return html`${pieces.map((piece, index) => (index % 2 ? html`<mark>${piece}</mark>` : piece))}`
}
