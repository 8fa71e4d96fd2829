import { mostResults } from '#hosting/search/results.ts'
import { type Found, type SearchType, searchTypes } from '#hosting/search/site-search.ts'
import { button, buttonLink, shortCount } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { icon } from '#web/components/icon.ts'
import { menu } from '#web/components/menu.ts'
import { pager } from '#web/components/pager.ts'
import { tabs } from '#web/components/tabs.ts'
import { banner } from '#web/components/toast.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'
import { resultList } from './results.ts'

export const perPage = 20

export interface SearchLook {
  q: string
  type: SearchType
  /** As `stars` or `created-asc`; empty for the best match. */
  sort: string
  page: number
}

const names: Record<SearchType, { title: string; icon: string; one: string; many: string }> = {
  repositories: { title: 'Repositories', icon: 'repo', one: 'repository', many: 'repositories' },
  issues: { title: 'Issues', icon: 'issue-opened', one: 'issue', many: 'issues' },
  pulls: { title: 'Pull requests', icon: 'git-pull-request', one: 'pull request', many: 'pull requests' },
  users: { title: 'People', icon: 'people', one: 'person', many: 'people' },
  commits: { title: 'Commits', icon: 'git-commit', one: 'commit', many: 'commits' },
  code: { title: 'Code', icon: 'code', one: 'file', many: 'files' },
}

const issueSorts = {
  '': 'Best match',
  created: 'Newest',
  'created-asc': 'Oldest',
  updated: 'Recently updated',
  comments: 'Most commented',
}
export const sorts: Record<SearchType, Record<string, string>> = {
  repositories: { '': 'Best match', stars: 'Most stars', forks: 'Most forks', updated: 'Recently updated' },
  issues: issueSorts,
  pulls: issueSorts,
  users: { '': 'Best match', followers: 'Most followers', repositories: 'Most repositories', joined: 'Newest' },
  commits: { '': 'Newest', 'created-asc': 'Oldest' },
  code: { '': 'Best match' },
}

const addressOf = ({ q, type, sort }: Omit<SearchLook, 'page'>) =>
  `/search?${new URLSearchParams({ q, type, ...(sort && { sort }) }).toString()}`

interface Shown {
  look: SearchLook
  counts: Partial<Record<SearchType, number>>
  /** Undefined without a query, or if it was refused. */
  found?: Found | undefined
  problem?: string | undefined
}

export async function searchBody(visit: Visit, { look, counts, found, problem }: Shown): Promise<Html> {
  const items = searchTypes.map((type) => {
    const { title: text, icon: name } = names[type]
    const total = type === found?.type ? found.results.total : counts[type]
    const count = total === undefined ? undefined : shortCount(total)
    return { text, icon: name, count, href: addressOf({ ...look, type, sort: '' }), current: type === look.type }
  })
  return html`<main class="search"><h1>Search</h1>
<form method="get" action="/search" role="search" class="search-form"><input type="search" name="q" value="${look.q}" aria-label="Search for" placeholder="Words, or qualifiers such as user:ada" maxlength="256" autocomplete="off" spellcheck="false"><input type="hidden" name="type" value="${look.type}">${button('Search', { kind: 'primary', icon: 'search' })}</form>
${tabs('Kinds of results', items)}${banner(problem, 'danger')}${found ? await results(visit, look, found) : problem === undefined ? nothingAsked : help(look.type)}</main>`
}

async function results(visit: Visit, look: SearchLook, found: Found): Promise<Html> {
  const { total, incomplete = false, rows } = found.results
  const chosen = sorts[look.type]
  const order =
    Object.keys(chosen).length > 1 &&
    menu(
      html`<span class="button small">${icon('sort-desc')} ${chosen[look.sort] ?? chosen['']} ${icon('triangle-down')}</span>`,
      Object.entries(chosen).map(([sort, text]) => ({ text, href: addressOf({ ...look, sort }), current: sort === look.sort })),
    )
  const { one, many } = names[look.type]
  if (!rows.length) {
    return html`${emptyState('search', look.page > 1 ? 'There are no more results' : `No ${many} match`, 'Try fewer or other words. A qualifier narrows the search: below are those that this search knows.')}${help(look.type)}`
  }
  const shown = Math.min(total, mostResults)
  return html`<div class="result-bar"><h2>${total} ${total === 1 ? one : many}</h2>${order}</div>
${(incomplete || total > mostResults) && html`<p class="muted">Only the first ${mostResults} can be shown: add words or qualifiers.</p>`}
${await resultList(visit, found)}${pager('/search', { q: look.q, type: look.type, ...(look.sort && { sort: look.sort }) }, look.page, Math.ceil(shown / perPage))}`
}

const nothingAsked = html`${emptyState('search', 'What are you looking for?', 'Repositories, issues, pull requests and people by their words; commits and code of one repository.', buttonLink('Explore instead', '/explore', { icon: 'telescope' }))}`

const issueHelp: [string, string][] = [
  ['is:open', 'open or closed; is:merged, is:draft, is:locked, is:private'],
  ['repo:owner/name', 'in one repository; user:LOGIN or org:LOGIN in those of an owner'],
  ['author:@me', 'opened by you or a login; assignee:, mentions:, commenter:, involves:'],
  ['review-requested:@me', 'waits for a review; reviewed-by:LOGIN'],
  ['label:bug', 'with a label; milestone:"v 1"; no:label, no:milestone, no:assignee'],
  ['created:>2026-01-01', 'dates: created, updated, closed, merged, with > < >= <= and ..'],
  ['comments:>10', 'numbers: comments, reactions, interactions'],
  ['in:title', 'only in title, body or comments'],
]

/** The qualifiers of each search, with an example. */
const qualifiers: Record<SearchType, [string, string][]> = {
  repositories: [
    ['user:LOGIN', 'of an owner; org:LOGIN, repo:owner/name'],
    ['topic:tools', 'with a topic; language:TypeScript, license:mit'],
    ['stars:>10', 'numbers: stars, forks, size, topics'],
    ['pushed:>2026-01-01', 'dates: created, pushed'],
    ['fork:true', 'forks too; fork:only'],
    ['is:private', 'public or private; archived:true, template:true'],
    ['in:name', 'only in name, description or topics'],
  ],
  issues: issueHelp,
  pulls: issueHelp,
  users: [
    ['type:org', 'user or org'],
    ['repos:>5', 'numbers: repos, followers'],
    ['location:london', 'by place; fullname:Ada'],
    ['created:>2026-01-01', 'when they joined'],
    ['in:login', 'only in login, name or email'],
  ],
  commits: [
    ['repo:owner/name', 'needed: the repository'],
    ['author:LOGIN', 'author, author-name, author-email; committer and so on'],
    ['committer-date:>2026-01-01', 'when it was committed'],
    ['merge:true', 'merges only; merge:false'],
    ['hash:SHA', 'one commit'],
  ],
  code: [
    ['repo:owner/name', 'needed: the repository'],
    ['path:src', 'below a folder'],
    ['filename:README.md', 'by the name of the file; extension:ts'],
    ['in:path', 'words of the path instead of the contents'],
  ],
}

function help(type: SearchType): Html {
  return html`<section class="qualifiers" aria-labelledby="qualifiers"><h2 id="qualifiers">Qualifiers of this search</h2><dl>${qualifiers[type].map(([example, text]) => html`<div><dt><code>${example}</code></dt><dd>${text}</dd></div>`)}</dl>
<p class="muted">Put a minus before a word or a qualifier to leave out what matches it. Quotes keep words together.</p></section>`
}
