import { listCommits } from '#hosting/commits/list-commits.ts'
import { type CodeLocation, codeAddress, findDefaultLocation, findLocation } from '#hosting/contents/code-location.ts'
import { mostInMenu, refMenu } from '#hosting/contents/views/ref-menu.ts'
import { listRefNames } from '#hosting/refs/recorded-refs.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, pageIn } from '#hosting/repositories/views/repository-page.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { pager } from '#web/components/pager.ts'
import { typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import type { Outcome, Visit } from '#web/page.ts'
import { commitHistory } from './history.ts'

const perPage = 35
/** Of a login or an e-mail address. */
const longestAuthor = 254

/** The commits of a branch, a tag or a commit, newest first; or those of them that changed a file or a folder. */
export async function commitsPage(visit: Visit): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const { storage } = visit.belfry
  const rest = visit.params['*'] ?? ''
  const location = rest
    ? await findLocation(visit.db, storage, repo, rest)
    : await findDefaultLocation(visit.db, storage, repo, [])
  if (!location)
    return pageOf(
      repo,
      'Commits',
      html`<main>${emptyState('history', 'There are no commits yet', 'The first push brings them.', undefined, 'h1')}</main>`,
    )
  if ('moved' in location) return { to: codeAddress('commits', location.moved, location.moved.path) }
  const { ref, sha, path } = location
  const page = pageIn(visit.query)
  const author = typed(visit.query, 'author').slice(0, longestAuthor)
  const query = { sha, path, author, committer: '', since: '', until: '' }
  const slice = { limit: perPage, offset: (page - 1) * perPage }
  const { rows, total } = await listCommits(visit.db, storage, repo, query, slice)
  const list = rows.length ? await commitHistory(visit.db, repo, rows, { graph: !path && !author }) : noCommits(author)
  const refs = await listRefNames(visit.db, repo, mostInMenu)
  const body = html`<main><div class="code-page"><div class="code-bar">${refMenu(location, 'commits', refs)}<h1 class="path">${heading(location)}</h1><span class="space"></span>${authorFilter(location, author)}</div></div>
${list}${pager(codeAddress('commits', location, path), author ? { author } : {}, page, Math.ceil(total / perPage))}</main>`
  return {
    ...pageOf(repo, `${path ? `History of ${path}` : 'Commits'} · ${ref}`, body),
    feed: `${codeAddress('commits', { repo, ref })}.atom`,
  }
}

const pageOf = (repo: Repository, title: string, body: ReturnType<typeof html>) => ({
  title: `${title} · ${repo.owner_login}/${repo.name}`,
  body,
  above: repositoryHeader(repo, 'code'),
})

const heading = (location: CodeLocation) =>
  location.path
    ? html`History of <a href="${codeAddress('blob', location, location.path)}"><bdi>${location.path}</bdi></a>`
    : html`<strong>Commits</strong>`

/** Commits of one author, found by login or e-mail address. */
function authorFilter(location: CodeLocation, author: string): Html {
  const address = codeAddress('commits', location, location.path)
  return html`<form class="buttons" method="get" action="${address}" role="search"><input type="search" name="author" value="${author}" maxlength="${longestAuthor}" placeholder="Author" aria-label="Login or e-mail address of the author" autocomplete="off" spellcheck="false">${button('Filter', { icon: 'filter' })}${author && buttonLink('Show all', address, { kind: 'invisible' })}</form>`
}

const noCommits = (author: string) =>
  author
    ? emptyState('history', 'No commits by this author', 'Commits are found by a login, or by the e-mail address that they have.')
    : emptyState('history', 'No commits')
