import { type Html, html } from '../html.ts'
import { icon } from './icon.ts'

/** Links to the pages before and after. `pages` may be infinite when nobody counted. */
export function pager(path: string, query: Record<string, string>, page: number, pages: number): Html {
  const to = (number: number) => `${path}?${new URLSearchParams({ ...query, ...(number > 1 && { page: String(number) }) })}`
  if (pages <= 1) return html``
  return html`<nav class="pager" aria-label="Pages">${page > 1 && html`<a href="${to(page - 1)}" rel="prev">${icon('chevron-left')} Previous</a>`}
<span class="muted">Page ${page}${Number.isFinite(pages) && ` of ${pages}`}</span>${page < pages && html` <a href="${to(page + 1)}" rel="next">Next ${icon('chevron-right')}</a>`}</nav>`
}
