import type { Repository } from '#hosting/repositories/repositories.ts'
import { correctionFailure, type Import } from '#parts/imports/import-row.ts'
import type { ShownAuthor } from '#parts/imports/looking.ts'
import { amount } from '#parts/webhooks/views/outcome-marks.ts'
import { type Html, html } from '#web/html.ts'
import type { SignedIn } from '#web/page.ts'
import type { Wrong } from './form.ts'
import { importPath, type Look, longestWords, lookAt, pager } from './places.ts'

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
  /** How many have the words that are looked for. */
  total: number
  look: Look
  mistyped?: Mistyped | undefined
}

/** Who the commits are by. Each row is a form of its own, that Enter sends from any of its fields. */
export function authorTable(listing: Listing): Html | undefined {
  const { rows, total, imported, repo, look } = listing
  const all = imported.authors_count
  if (!all) return undefined
  const open = !repo.archived && mayCorrect(imported)
  const items = rows.map((author) => (open ? correctable(listing, author) : plain(author)))
  return html`<section aria-labelledby="authors-title" id="authors"><div class="heading"><h2 id="authors-title">Authors</h2><span id="saved" role="status"></span><span class="muted" id="authors-count">${look.q && `${amount(total)} of `}${amount(all)} ${all === 1 ? 'author' : 'authors'}</span></div>
${(look.q || all > perPage) && search(repo, look)}<div id="authors-list">${told(imported)}${total === 0 ? html`<p>Nobody is found by these words.</p>` : html`<table class="authors"><thead><tr><th scope="col">In the source</th><th scope="col">Name</th><th scope="col">Email</th>${open && html`<td class="save"></td>`}</tr></thead><tbody>${items}</tbody></table>`}${pager('authors', look.page, Math.ceil(total / perPage), (page) => lookAt(repo, { ...look, page }, 'authors'))}</div></section>`
}

/** What somebody has built on must not change under them. */
export const mayCorrect = ({ status, published }: Import) => status !== 'complete' || published !== null

function search(repo: Repository, { q, files }: Look): Html {
  return html`<form method="get" action="${importPath(repo)}#authors" class="find" role="search"><label for="q">Find an author</label>
<input id="q" name="q" type="search" value="${q}" maxlength="${longestWords}" autocomplete="off" autocapitalize="none" spellcheck="false">${files > 1 && html`<input type="hidden" name="files" value="${files}">`}
<button>Find</button>${q && html` <a href="${lookAt(repo, { q: '', page: 1, files }, 'authors')}">Show all</a>`}</form>`
}

function told(imported: Import): Html {
  const why = correctionFailure(imported)
  const explained = html`<p>${explain(imported)}</p>`
  if (why === null) return explained
  const failed = html`The authors that were corrected last are not in the commits. ${why}`
  if (!mayCorrect(imported)) return html`<p class="error message">${failed}</p>${explained}`
  return html`<p class="error message">${failed} Save one of them again to have it tried once more.</p>`
}

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

function correctable({ visit, repo, look, mistyped }: Listing, author: ShownAuthor): Html {
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
<td><form method="post" action="${importPath(repo)}/authors/${id}" id="map-${id}" class="map"><input type="hidden" name="csrf" value="${visit.csrf}"><input type="hidden" name="page" value="${look.page}">${look.files > 1 && html`<input type="hidden" name="files" value="${look.files}">`}${look.q && html`<input type="hidden" name="q" value="${look.q}">`}
<button id="save-${id}" aria-label="Save ${who}">Save</button></form></td></tr>`
}
