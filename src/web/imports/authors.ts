import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Import } from '#parts/imports/changing.ts'
import type { ShownAuthor } from '#parts/imports/looking.ts'
import { count } from '../conversation.ts'
import { type Html, html } from '../html.ts'
import type { SignedIn } from '../page.ts'
import type { Wrong } from './form.ts'
import { importPath } from './places.ts'

/** So many are on a page of the table. */
export const perPage = 50

/** What was typed for one of them, and cannot be taken. */
export interface Mistyped {
  id: number
  name: string
  email: string
  wrong: Wrong
}

interface Listing {
  visit: SignedIn
  repo: Repository
  imported: Import
  rows: ShownAuthor[]
  total: number
  page: number
  mistyped?: Mistyped | undefined
}

/** Who the commits are by. Each row is a form of its own, that Enter sends from any of its fields. */
export function authorTable(listing: Listing): Html | undefined {
  const { rows, total, imported, repo } = listing
  if (!total) return undefined
  const open = !repo.archived && mayCorrect(imported)
  const items = rows.map((author) => (open ? correctable(listing, author) : plain(author)))
  return html`<section aria-labelledby="authors-title" id="authors"><div class="heading"><h2 id="authors-title">Authors</h2><span id="saved" role="status"></span><span class="muted" id="authors-count">${count(total, 'author')}</span></div>
<div id="authors-list"><p>${explain(imported)}</p><table class="authors"><thead><tr><th scope="col">In the source</th><th scope="col">Name</th><th scope="col">Email</th>${open && html`<td class="save"></td>`}</tr></thead><tbody>${items}</tbody></table>${pages(listing)}</div></section>`
}

/** What somebody has built on must not change under them. */
export const mayCorrect = ({ status, published }: Import) => status !== 'complete' || published !== null

function explain(imported: Import): string {
  if (!mayCorrect(imported))
    return 'Somebody has pushed to the repository since it was imported, so that authors stay as they are: commits that others have built on are not written anew.'
  if (imported.active && imported.status === 'complete') return 'The commits are being written anew with the corrected authors.'
  return imported.status === 'complete'
    ? 'As commits name them. Correct whom you know: the commits are written anew within moments. That is possible until somebody pushes.'
    : 'As commits will name them. Correct whom you know, now or later: it is possible until somebody pushes.'
}

const source = ({ remote_id, remote_name, corrected }: ShownAuthor) =>
  html`<th scope="row"><span class="address">${remote_name || remote_id}</span>${remote_id !== remote_name && remote_name !== '' && html` <span class="muted address remote">${remote_id}</span>`}${corrected && html` <span class="badge">corrected</span>`}</th>`

const plain = (author: ShownAuthor) =>
  html`<tr id="author-${author.id}">${source(author)}<td class="address">${author.name}</td><td class="address">${author.email}</td></tr>`

function correctable({ visit, repo, page, mistyped }: Listing, author: ShownAuthor): Html {
  const { id, remote_name, remote_id } = author
  const typed = mistyped?.id === id ? mistyped : undefined
  const { name, email } = typed ?? author
  const who = remote_name || remote_id
  const wrong = typed?.wrong ?? {}
  const input = (field: 'name' | 'email', value: string) => {
    const error = wrong[field]
    return html`<td><input form="map-${id}" id="${field}-${id}" name="${field}" value="${value}" aria-label="${field === 'name' ? 'Name' : 'Email'} of ${who}" required maxlength="255" autocomplete="off" autocapitalize="none" spellcheck="false"${
      error && html` aria-invalid="true" aria-describedby="${field}-${id}-error"`
    }>${error && html`<p class="field-error" id="${field}-${id}-error">${error}</p>`}</td>`
  }
  return html`<tr id="author-${id}">${source(author)}${input('name', name)}${input('email', email)}
<td><form method="post" action="${importPath(repo)}/authors/${id}" id="map-${id}" class="map"><input type="hidden" name="csrf" value="${visit.csrf}"><input type="hidden" name="page" value="${page}">
<button id="save-${id}" aria-label="Save ${who}">Save</button></form></td></tr>`
}

function pages({ repo, total, page }: Listing): Html | undefined {
  const last = Math.ceil(total / perPage)
  if (last <= 1) return undefined
  const to = (number: number) => `${importPath(repo)}?page=${number}#authors`
  return html`<nav class="pager" aria-label="Pages of authors">${page > 1 && html`<a href="${to(page - 1)}" rel="prev">Previous</a>`} <span class="muted">Page ${page} of ${last}</span>${page < last && html` <a href="${to(page + 1)}" rel="next">Next</a>`}</nav>`
}
