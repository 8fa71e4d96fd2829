import type { Issue } from '#hosting/issues/issues.ts'
import { mayTriage } from '#hosting/issues/rights.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, pageIn, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { Refusal } from '#platform/errors.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { icon } from '#web/components/icon.ts'
import { pager } from '#web/components/pager.ts'
import { box } from '#web/components/table.ts'
import { segments } from '#web/components/tabs.ts'
import { banner } from '#web/components/toast.ts'
import { sentence } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import type { Outcome, Visit } from '#web/page.ts'
import { bulkForm, selectBox } from './bulk.ts'
import { issueRow } from './issue-row.ts'
import { listMenus } from './list-menus.ts'
import { addressQuery, defaultQuery, type ListKind, stateIn, withState } from './list-query.ts'
import { type FoundPage, findIssues } from './list-search.ts'

const perPage = 30

const kinds = {
  issues: {
    title: 'Issues',
    noun: 'issues',
    icon: 'issue-opened',
    text: 'Issues are for bugs, tasks and ideas. There are none yet.',
  },
  pulls: {
    title: 'Pull requests',
    noun: 'pull requests',
    icon: 'git-pull-request',
    text: 'A pull request proposes commits of a branch or a fork. There are none yet.',
  },
} as const

/** For the list of keys; lists.js acts on them. */
const keys = JSON.stringify([
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['Enter', 'Open the row'],
  ['x', 'Select the row'],
  ['c', 'Create a new one'],
])

export interface ListOptions {
  /** The button that opens a new one. */
  create?: Html | undefined
  /** Above the list. */
  notice?: Html | undefined
  /** More about each of the rows, by their ids, such as the reviews of pull requests. */
  decorate?(issues: Issue[]): Promise<Map<number, Html>>
}

/** Issues or pull requests of a repository, as the query of the search box says; the open ones, newest first, by default. */
export async function listPage(visit: Visit, only: ListKind, options: ListOptions = {}): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const place = `${pathOf(repo)}/${only}`
  const q = queryIn(visit.query, only)
  const page = pageIn(visit.query)
  const [found, menus] = await Promise.all([search(visit, repo, q, page), listMenus(visit, repo, place, q)])
  const { title } = kinds[only]
  const may = mayTriage(repo) && !repo.archived && visit.visitor !== null
  const more = (await options.decorate?.(found.rows)) ?? new Map<number, Html>()
  const rows = found.rows.map((issue) =>
    issueRow(issue, repo, { lead: may ? selectBox(issue) : undefined, more: more.get(issue.id) }),
  )
  const states = await stateTabs(visit, repo, place, q, found)
  const header = html`${may && rows.length > 0 && bulkForm(visit, repo, place, q)}${states}<span class="space"></span>${menus}`
  const list = rows.length
    ? box(rows, { header, label: title, kind: 'issue-list' })
    : html`${box([], { header, kind: 'issue-list none' })}${nothing(only, q, place, found)}`
  const body = html`<main class="issue-lists" data-page-keys="${keys}">${banner(visit.flash.done)}<h1 class="unseen">${title}</h1>${options.notice}
<div class="list-bar">${searchForm(place, q, only)}<div class="buttons">${buttonLink('Labels', `${pathOf(repo)}/labels`, { icon: 'tag' })}${repo.has_issues && buttonLink('Milestones', `${pathOf(repo)}/milestones`, { icon: 'milestone' })}${options.create}</div></div>
${banner(found.problem, 'danger')}${list}${pager(place, { q }, page, Math.ceil(found.listed / perPage))}</main>`
  return {
    title: `${title} · ${repo.owner_login}/${repo.name}`,
    body,
    ...(found.problem && { status: 422 }),
    above: repositoryHeader(repo, only),
  }
}

/** `state` and `milestone` are of earlier addresses. */
function queryIn(query: URLSearchParams, only: ListKind): string {
  const q = query.get('q')?.replaceAll('\0', '').trim()
  if (q) return q
  return defaultQuery(only, query.get('state') === 'closed' ? 'closed' : 'open')
}

type Found = FoundPage & { problem?: string }

/** A query that is refused shows an empty list with the reason. */
async function search(visit: Visit, repo: Repository, q: string, page: number): Promise<Found> {
  try {
    return await findIssues(visit, repo, q, { limit: perPage, offset: (page - 1) * perPage })
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== 'invalid') throw error
    const problem = error.faults?.map(({ message, code }) => sentence(message ?? code)).join(' ') ?? error.message
    return { rows: [], total: 0, listed: 0, problem }
  }
}

/** Links to the same list of open and of closed ones, with their numbers. */
async function stateTabs(visit: Visit, repo: Repository, place: string, q: string, found: Found): Promise<Html> {
  const state = stateIn(q)
  const counted = async (wanted: 'open' | 'closed') => {
    if (wanted === state) return found.total
    return (await findIssues(visit, repo, withState(q, wanted), { limit: 1, offset: 0 })).total
  }
  const [open, closed] = found.problem ? [] : await Promise.all([counted('open'), counted('closed')])
  return segments('State', [
    { text: 'Open', href: `${place}?${addressQuery(withState(q, 'open'))}`, current: state === 'open', count: open },
    { text: 'Closed', href: `${place}?${addressQuery(withState(q, 'closed'))}`, current: state === 'closed', count: closed },
  ])
}

function searchForm(place: string, q: string, only: ListKind): Html {
  return html`<form class="list-search" role="search" method="get" action="${place}"><input type="search" name="q" value="${q} " aria-label="Search ${kinds[only].noun}" maxlength="1000" autocomplete="off" spellcheck="false">
${button(icon('search', { label: 'Search' }))}${q !== defaultQuery(only) && html`<a class="clear muted" href="${place}">${icon('x')} Clear</a>`}</form>`
}

function nothing(only: ListKind, q: string, place: string, { problem, total }: Found): Html {
  if (problem) return html``
  const { noun, text, icon: name } = kinds[only]
  if (total > 0)
    return emptyState(name, 'There is no such page', html`<a href="${place}?${addressQuery(q)}">Go to the first page.</a>`)
  if (q === defaultQuery(only)) return emptyState(name, `There are no open ${noun}`, text)
  return emptyState(
    'search',
    'Nothing matches your search',
    html`Try other words, or see <a href="${place}">all open ${noun}</a>.`,
  )
}
