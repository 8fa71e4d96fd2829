import { type Html, html } from '#web/html.ts'
import { languageColor, languageDot } from './language.ts'

/** Languages with a smaller share are shown together. */
const mostShown = 6
const gap = 0.4

/** The shares of languages as a bar, and the names below it. `languages` has the bytes of each, most first. */
export function languageBar(languages: Record<string, number>): Html {
  const all = Object.entries(languages)
  const total = all.reduce((sum, [, bytes]) => sum + bytes, 0)
  const shown = all.slice(0, mostShown).map(([name, bytes]): [string, number] => [name, (100 * bytes) / total])
  const rest = 100 - shown.reduce((sum, [, share]) => sum + share, 0)
  const shares = all.length > mostShown ? [...shown, ['Other', rest] as [string, number]] : shown
  let x = 0
  const bars = shares.map(([name, share]) => {
    const bar = html`<rect x="${x.toFixed(2)}%" width="${Math.max(share - gap, 0.2).toFixed(2)}%" height="8" fill="${languageColor(name)}"/>`
    x += share
    return bar
  })
  const names = shares.map(([name, share]) => html`<li>${languageDot(name)} <span class="muted">${share.toFixed(1)}%</span></li>`)
  return html`<svg class="language-bar" width="100%" height="8" aria-hidden="true">${bars}</svg><ul class="languages plain">${names}</ul>`
}
