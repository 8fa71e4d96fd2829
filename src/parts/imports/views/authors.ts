import type { Repository } from '#hosting/repositories/repositories.ts'
import { correctionFailure, type Import } from '#parts/imports/import-row.ts'
import type { ShownAuthor } from '#parts/imports/page-queries.ts'
import { amount } from '#parts/webhooks/views/outcome-marks.ts'
import { type Html, html } from '#web/html.ts'
import { form, type SignedIn } from '#web/page.ts'
import type { FieldErrors } from './form.ts'
import { importPath, type ListPosition, maxQueryLength, pager, positionUrl } from './import-page.ts'

export const perPage = 50

/** Rejected values of one author. */
export interface InvalidAuthor {
  id: number
  name: string
  email: string
  errors: FieldErrors
}

interface Listing {
  visit: SignedIn
  repo: Repository
  imported: Import
  rows: ShownAuthor[]
  /** How many authors match the search. */
  total: number
  position: ListPosition
  invalidAuthor?: InvalidAuthor | undefined
}

/** Each row is a form of its own, which Enter submits from any of its fields. */
export function authorTable(listing: Listing): Html | undefined {
  const { rows, total, imported, repo, position } = listing
  const all = imported.authors_count
  if (!all) return undefined
  const open = !repo.archived && mayCorrect(imported)
  const items = rows.map((author) => (open ? correctable(listing, author) : plain(author)))
  return html`<section aria-labelledby="authors-title" id="authors"><div class="heading"><h2 id="authors-title">Authors</h2><span id="saved" role="status"></span><span class="muted" id="authors-count">${position.q && `${amount(total)} of `}${amount(all)} ${all === 1 ? 'author' : 'authors'}</span></div>
${csvForm(listing, open)}${(position.q || all > perPage) && search(repo, position)}<div id="authors-list">${statusNote(imported)}${total === 0 ? html`<p>No author matches.</p>` : html`<table class="authors"><thead><tr><th scope="col">In the source</th><th scope="col">Name</th><th scope="col">Email</th>${open && html`<td class="save"></td>`}</tr></thead><tbody>${items}</tbody></table>`}${pager('authors', position.page, Math.ceil(total / perPage), (page) => positionUrl(repo, { ...position, page }, 'authors'))}</div></section>`
}

/** All authors at once, for those who correct them in a spreadsheet or have a list already. */
function csvForm({ visit, repo }: Listing, open: boolean): Html {
  const path = `${importPath(repo)}/authors.csv`
  const download = html`<a href="${path}" download data-turbo="false">Download all as CSV</a>`
  if (!open) return html`<p>${download}</p>`
  const upload = html`${download} <label for="authors-file">or upload a corrected file</label> <input id="authors-file" name="authors" type="file" accept=".csv,text/csv" required> <button>Upload</button>`
  return form(visit, path, upload, { class: 'find', files: true })
}

/** Commits that others have built on must not change. */
export const mayCorrect = ({ status, published }: Import) => status !== 'complete' || published !== null

function search(repo: Repository, { q, files }: ListPosition): Html {
  return html`<form method="get" action="${importPath(repo)}#authors" class="find" role="search"><label for="q">Find an author</label>
<input id="q" name="q" type="search" value="${q}" maxlength="${maxQueryLength}" autocomplete="off" autocapitalize="none" spellcheck="false">${files > 1 && html`<input type="hidden" name="files" value="${files}">`}
<button>Find</button>${q && html` <a href="${positionUrl(repo, { q: '', page: 1, files }, 'authors')}">Show all</a>`}</form>`
}

function statusNote(imported: Import): Html {
  const why = correctionFailure(imported)
  const explained = html`<p>${explain(imported)}</p>`
  if (why === null) return explained
  const failed = html`The last author corrections are not in the commits. ${why}`
  if (!mayCorrect(imported)) return html`<p class="error message">${failed}</p>${explained}`
  return html`<p class="error message">${failed} Save an author again to retry.</p>`
}

function explain(imported: Import): string {
  if (!mayCorrect(imported))
    return 'There was a push to the repository after the import, so the authors can no longer be corrected: others may have built on these commits.'
  if (imported.active && imported.status === 'complete') return 'The commits are being rewritten with the corrected authors.'
  return imported.status === 'complete'
    ? 'The authors as the commits name them. Correct them here; the commits are rewritten within seconds. This is possible until the first push.'
    : 'The authors as the commits will name them. Correct them now or later, until the first push.'
}

const source = ({ remote_id, remote_name, corrected }: ShownAuthor) =>
  html`<th scope="row"><span class="address">${remote_name || remote_id}</span>${remote_id !== remote_name && remote_name !== '' && html` <span class="muted address remote">${remote_id}</span>`}${corrected && html` <span class="badge">corrected</span>`}</th>`

const plain = (author: ShownAuthor) =>
  html`<tr id="author-${author.id}">${source(author)}<td class="address">${author.name}</td><td class="address">${author.email}</td></tr>`

function correctable({ visit, repo, position, invalidAuthor }: Listing, author: ShownAuthor): Html {
  const { id, remote_name, remote_id } = author
  const typed = invalidAuthor?.id === id ? invalidAuthor : undefined
  const { name, email } = typed ?? author
  const who = remote_name || remote_id
  const errors = typed?.errors ?? {}
  const input = (field: 'name' | 'email', value: string) => {
    const error = errors[field]
    return html`<td><input form="map-${id}" id="${field}-${id}" name="${field}" value="${value}" aria-label="${field === 'name' ? 'Name' : 'Email'} of ${who}" required maxlength="255" autocomplete="off" autocapitalize="none" spellcheck="false"${
      error && html` aria-invalid="true" aria-describedby="${field}-${id}-error"`
    }>${error && html`<p class="field-error" id="${field}-${id}-error">${error}</p>`}</td>`
  }
  return html`<tr id="author-${id}">${source(author)}${input('name', name)}${input('email', email)}
<td><form method="post" action="${importPath(repo)}/authors/${id}" id="map-${id}" class="map"><input type="hidden" name="csrf" value="${visit.csrf}"><input type="hidden" name="page" value="${position.page}">${position.files > 1 && html`<input type="hidden" name="files" value="${position.files}">`}${position.q && html`<input type="hidden" name="q" value="${position.q}">`}
<button id="save-${id}" aria-label="Save ${who}">Save</button></form></td></tr>`
}
