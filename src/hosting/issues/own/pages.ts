import { issueRow } from '#hosting/issues/views/issue-row.ts'
import { pageIn, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { type FoundIssue, searchIssues } from '#hosting/search/issues.ts'
import { mostResults, type Results } from '#hosting/search/results.ts'
import { Refusal } from '#platform/errors.ts'
import { button, buttonLink, shortCount } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { pager } from '#web/components/pager.ts'
import { box } from '#web/components/table.ts'
import { segments, tabs } from '#web/components/tabs.ts'
import { banner } from '#web/components/toast.ts'
import { typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { type Outcome, type PageRoute, type SignedIn, showOwn } from '#web/page.ts'

export const pages: PageRoute[] = [
  showOwn('/issues', (visit) => ownPage(visit, 'issues')),
  showOwn('/pulls', (visit) => ownPage(visit, 'pulls')),
]

const kinds = {
  issues: { title: 'Issues', is: 'is:issue', icon: 'issue-opened' },
  pulls: { title: 'Pull requests', is: 'is:pr', icon: 'git-pull-request' },
} as const

const relations = {
  created: { text: 'Created', qualifier: 'author:@me', nothing: 'What you open in any repository is listed here.' },
  assigned: { text: 'Assigned', qualifier: 'assignee:@me', nothing: 'What somebody assigns to you is listed here.' },
  mentioned: {
    text: 'Mentioned',
    qualifier: 'mentions:@me',
    nothing: 'Where somebody writes your name with an @ is listed here.',
  },
  'review-requested': {
    text: 'Review requests',
    qualifier: 'review-requested:@me',
    nothing: 'Where somebody asks for your review is listed here.',
  },
} as const

type Kind = keyof typeof kinds
type Relation = keyof typeof relations

interface Look {
  kind: Kind
  tab: Relation
  state: 'open' | 'closed'
  /** Further words and qualifiers. */
  q: string
  page: number
}

const tabsOf = (kind: Kind) =>
  (Object.keys(relations) as Relation[]).filter((tab) => kind === 'pulls' || tab !== 'review-requested')

function lookOf(query: URLSearchParams, kind: Kind): Look {
  return {
    kind,
    tab: tabsOf(kind).find((tab) => tab === query.get('tab')) ?? 'created',
    state: query.get('state') === 'closed' ? 'closed' : 'open',
    q: typed(query, 'q').slice(0, 256),
    page: Math.min(pageIn(query), mostResults / perPage),
  }
}

const perPage = 25

const queryOf = ({ tab, state, q }: Look): Record<string, string> => ({
  ...(tab !== 'created' && { tab }),
  ...(state !== 'open' && { state }),
  ...(q && { q }),
})

function addressOf(look: Look): string {
  const query = new URLSearchParams(queryOf(look)).toString()
  return query ? `/${look.kind}?${query}` : `/${look.kind}`
}

/** Issues or pull requests of all repositories, by the visitor's relation to them. */
async function ownPage(visit: SignedIn, kind: Kind): Promise<Outcome> {
  const look = lookOf(visit.query, kind)
  const { title } = kinds[kind]
  const other = look.state === 'open' ? 'closed' : 'open'
  try {
    const [found, others] = await Promise.all([
      search(visit, look, perPage),
      search(visit, { ...look, state: other, page: 1 }, 1),
    ])
    const counts = { [look.state]: found.total, [other]: others.total }
    return { title, body: bodyOf(look, list(look, found, counts)) }
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== 'invalid') throw error
    const said = error.faults?.map(({ message }) => message).join(' ') || error.message
    return { title, status: 422, body: bodyOf(look, html`${banner(said, 'danger')}`) }
  }
}

function search(visit: SignedIn, { kind, tab, state, q, page }: Look, limit: number) {
  const whole = [kinds[kind].is, `is:${state}`, relations[tab].qualifier, 'archived:false', q].join(' ')
  const viewer = { ...viewerOf(visit), login: visit.visitor.login }
  return searchIssues(visit.db, viewer, whole, { sort: 'updated', order: 'desc' }, { limit, offset: (page - 1) * limit })
}

function bodyOf(look: Look, below: Html): Html {
  const { title } = kinds[look.kind]
  const items = tabsOf(look.kind).map((tab) => ({
    text: relations[tab].text,
    href: addressOf({ ...look, tab, page: 1 }),
    current: tab === look.tab,
  }))
  const kept = Object.entries(queryOf({ ...look, q: '' })).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  return html`<main class="own-issues"><h1>${title}</h1>${tabs(title, items)}
<form method="get" action="/${look.kind}" role="search" class="search-form own-search">${kept}<input type="search" name="q" value="${look.q}" aria-label="Search these" placeholder="Words, or qualifiers such as label:bug repo:owner/name" maxlength="256" autocomplete="off" spellcheck="false">${button('Search', { icon: 'search' })}</form>${below}</main>`
}

function list(look: Look, { rows, total }: Results<FoundIssue>, counts: Record<string, number>): Html {
  const states = (['open', 'closed'] as const).map((state) => ({
    text: state === 'open' ? 'Open' : 'Closed',
    href: addressOf({ ...look, state, page: 1 }),
    current: state === look.state,
    count: shortCount(counts[state] ?? 0),
  }))
  const bar = segments('State', states)
  const noun = kinds[look.kind].title.toLowerCase()
  if (!rows.length) {
    const clear = look.q ? buttonLink('Clear the search', addressOf({ ...look, q: '' })) : buttonLink('Explore', '/explore')
    return html`<p class="state-bar">${bar}</p>${emptyState(kinds[look.kind].icon, look.page > 1 ? `There are no more ${noun}` : `No ${look.state} ${noun} here`, look.q ? 'None of them matches the search.' : relations[look.tab].nothing, clear)}`
  }
  return html`${box(
    rows.map(({ issue, repo }) => issueRow(issue, repo, { named: true })),
    { header: bar, label: kinds[look.kind].title },
  )}${pager(`/${look.kind}`, queryOf(look), look.page, Math.ceil(Math.min(total, mostResults) / perPage))}`
}
