import { loadRepository, type Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { pageIn, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { levelOf } from '#identity/access.ts'
import type { Account } from '#identity/accounts.ts'
import type { Import } from '#parts/imports/import-row.ts'
import type { Queryable } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type SignedIn } from '#web/page.ts'

export const importPath = (repo: Repository) => `${pathOf(repo)}/import`

/** The search text for authors, and the pages of the lists of authors and large files. */
export interface ListPosition {
  q: string
  page: number
  files: number
}

export function readPosition(given: URLSearchParams): ListPosition {
  return { q: typed(given, 'q').slice(0, maxQueryLength).toWellFormed(), page: pageIn(given), files: pageIn(given, 'files') }
}

export const maxQueryLength = 200

export function positionUrl(repo: Repository, { q, page, files }: ListPosition, part: string, done?: string): string {
  const parameters = [done && `done=${done}`, `page=${page}`, files > 1 && `files=${files}`, q && `q=${encodeURIComponent(q)}`]
  return `${importPath(repo)}?${parameters.filter(Boolean).join('&')}#${part}`
}

export function pager(what: string, page: number, last: number, to: (page: number) => string): Html | undefined {
  if (last <= 1) return undefined
  return html`<nav class="pager" aria-label="Pages of ${what}">${page > 1 && html`<a href="${to(page - 1)}" rel="prev">Previous</a>`} <span class="muted">Page ${page} of ${last}</span>${page < last && html` <a href="${to(page + 1)}" rel="next">Next</a>`}</nav>`
}

interface TargetRequest {
  db: Queryable
  visitor: Account
  params: Record<string, string>
}

/** Viewers who may not push get 404. */
export async function loadTarget({ db, visitor, params }: TargetRequest): Promise<Repository> {
  const { owner = '', repo: name = '' } = params
  if (/\0/.test(owner + name)) throw missing()
  const repo = await loadRepository(db, { viewer_id: visitor.id, sees_private: true }, owner, name)
  if (!mayImport(repo)) throw missing()
  return repo
}

/** Identifies the run that a page shows. */
export const versionOf = ({ id, run }: Pick<Import, 'id' | 'run'>) => `${id}-${run}`

interface FormContext {
  visit: SignedIn
  repo: Repository
  imported: Import
}

/** A form that resumes the run that the page shows. */
export function resumeForm(
  { visit, repo, imported }: FormContext,
  end: string,
  body: Html,
  options: { class: string } = { class: 'inline' },
) {
  const seen = html`<input type="hidden" name="seen" value="${versionOf(imported)}">`
  return form(visit, `${importPath(repo)}/${end}`, html`${seen}${body}`, options)
}

export const mayImport = ({ access }: Repository) => access >= levelOf('push')

/** The script replaces the elements that changed, by their ids. */
export function importPage(repo: Repository, title: string, body: Html, status = 200, live?: Import['status'] | 'none') {
  return {
    title: `${title} · ${repo.owner_login}/${repo.name}`,
    status,
    body: html`<main class="conversation hooks imports"${live && html` data-status="${live}"`}>${body}</main>`,
    above: repositoryHeader(repo, 'code'),
  }
}
