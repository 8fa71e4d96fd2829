import { loadRepository, type Repository } from '#hosting/repositories/repositories.ts'
import { levelOf } from '#identity/access.ts'
import type { Viewer } from '#identity/accounts.ts'
import { missing } from '#platform/errors.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'

/** A page has no token that limits the visitor's access. */
export const viewerOf = ({ visitor }: Visit): Viewer => ({ viewer_id: visitor?.id ?? null, sees_private: true })

/** The repository that the path names, as the visitor may see it. */
export async function loadVisibleRepository(visit: Visit): Promise<Repository> {
  const { owner = '', repo = '' } = visit.params
  if (/\0/.test(owner + repo)) throw missing()
  return loadRepository(visit.db, viewerOf(visit), owner, repo)
}

export const pathOf = ({ owner_login, name }: Pick<Repository, 'owner_login' | 'name'>) => `/${owner_login}/${name}`

/** A number in a path or a query; other text becomes a number that nothing has. */
export function numberIn(text: string | undefined): number {
  if (!/^[1-9]\d{0,8}$/.test(text ?? '')) throw missing()
  return Number(text)
}

const sections = [
  ['issues', 'Issues'],
  ['pulls', 'Pull requests'],
  ['settings/hooks', 'Webhooks'],
  ['import', 'Import'],
] as const

/** The repository's name, and links to its pages. */
export function crumbs(repo: Repository, current?: (typeof sections)[number][0]): Html {
  const path = pathOf(repo)
  const links = sections
    .filter(([name]) => name !== 'issues' || repo.has_issues)
    .filter(([name]) => name !== 'settings/hooks' || repo.access >= levelOf('admin'))
    // Imports happen once, so only the page of an empty repository links there.
    .filter(([name]) => name !== 'import' || name === current)
    .map(([name, title]) => html` <a href="${path}/${name}"${name === current && html` aria-current="page"`}>${title}</a>`)
  return html`<nav class="crumbs" aria-label="Repository"><a href="${path}"><strong>${repo.owner_login}/${repo.name}</strong></a>
${repo.private && html`<span class="badge">private</span>`}${repo.archived && html`<span class="badge">archived</span>`}${links}</nav>`
}

export function pager(path: string, query: Record<string, string>, page: number, pages: number): Html {
  const to = (number: number) => `${path}?${new URLSearchParams({ ...query, page: String(number) })}`
  if (pages <= 1) return html``
  return html`<nav class="pager" aria-label="Pages">${page > 1 && html`<a href="${to(page - 1)}" rel="prev">Newer</a>`}
<span class="muted">Page ${page}${Number.isFinite(pages) && ` of ${pages}`}</span>${page < pages && html` <a href="${to(page + 1)}" rel="next">Older</a>`}</nav>`
}

/** The page number of a query, bounded; other text means the first page. */
export function pageIn(query: URLSearchParams, name = 'page'): number {
  return Math.min(Number(/^[1-9]\d{0,5}$/.exec(query.get(name) ?? '')?.[0] ?? 1), 1000)
}
