import { listPeople } from '#hosting/people/views/people-list.ts'
import { listRepositories } from '#hosting/repositories/repositories.ts'
import { repositoryList } from '#hosting/repositories/views/repository-list.ts'
import { pageIn } from '#hosting/repositories/views/repository-page.ts'
import { searchTopics } from '#hosting/search/names.ts'
import { searchUsers } from '#hosting/search/users.ts'
import { aboutPerson } from '#hosting/search/views/results.ts'
import { anonymous } from '#identity/callers.ts'
import { type Sql, sql } from '#platform/database.ts'
import { buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { counter } from '#web/components/label.ts'
import { pager } from '#web/components/pager.ts'
import { segments, tabs } from '#web/components/tabs.ts'
import { type Html, html } from '#web/html.ts'
import { type Outcome, type PageRoute, show, type Visit } from '#web/page.ts'

export const pages: PageRoute[] = [show('/explore', explorePage)]

const perPage = 20

/** The same for every visitor: only what is public. */
async function explorePage(visit: Visit): Promise<Outcome> {
  const people = visit.query.get('tab') === 'people'
  const page = pageIn(visit.query)
  const slice = { limit: perPage, offset: (page - 1) * perPage }
  const bar = tabs('Explore', [
    { text: 'Repositories', icon: 'repo', href: '/explore', current: !people },
    { text: 'People', icon: 'people', href: '/explore?tab=people', current: people },
    { text: 'Activity', icon: 'pulse', href: '/timeline' },
  ])
  const list = people ? await peopleOf(visit, page, slice) : await repositoriesOf(visit, page, slice)
  return { title: 'Explore', body: html`<main class="explore"><h1>Explore</h1>${bar}${list}</main>`, feed: '/timeline.atom' }
}

const orders: Record<string, { text: string; order: Sql }> = {
  active: { text: 'Recently active', order: sql`r.pushed_at desc nulls last, r.id desc` },
  stars: { text: 'Most stars', order: sql`r.stargazers_count desc, r.id desc` },
  newest: { text: 'Newest', order: sql`r.id desc` },
}

type Slice = { limit: number; offset: number }

async function repositoriesOf({ db, query, visitor }: Visit, page: number, slice: Slice): Promise<Html> {
  const asked = query.get('sort') ?? ''
  const sort = Object.hasOwn(orders, asked) ? asked : 'active'
  const [{ rows, total }, topics] = await Promise.all([
    listRepositories(db, anonymous, sql`r.parent_id is null`, orders[sort]?.order ?? sql`r.id desc`, slice),
    searchTopics(db, anonymous, 'repositories:>0', { limit: 20, offset: 0 }),
  ])
  if (!rows.length && page === 1) {
    const first = visitor ? buttonLink('Create the first', '/new', { kind: 'primary', icon: 'repo' }) : undefined
    return emptyState('repo', 'There are no public repositories yet', undefined, first)
  }
  const choices = segments(
    'Order',
    Object.entries(orders).map(([name, { text }]) => ({ text, href: `/explore?sort=${name}`, current: name === sort })),
  )
  const list = rows.length ? repositoryList(rows.map((repo) => ({ repo }))) : emptyState('repo', 'There are no more repositories')
  const names = topics.rows.map(
    ({ name, repository_count }) =>
      html`<a class="topic" href="/search?${new URLSearchParams({ q: `topic:${name}`, type: 'repositories' }).toString()}">${name} ${counter(repository_count)}</a>`,
  )
  return html`<div class="with-side"><div><p class="state-bar">${choices}</p>${list}${pager('/explore', { sort }, page, Math.ceil(total / perPage))}</div>
<aside aria-label="Topics"><section><h2>Topics</h2>${names.length ? html`<p class="topics">${names}</p>` : html`<p class="muted">No repository has a topic yet.</p>`}</section></aside></div>`
}

async function peopleOf(visit: Visit, page: number, slice: Slice): Promise<Html> {
  const { rows, total } = await searchUsers(visit.db, 'type:user', { sort: 'joined', order: 'desc' }, slice)
  return html`${rows.length ? await listPeople(visit, rows, aboutPerson) : emptyState('people', 'There are no more people')}${pager('/explore', { tab: 'people' }, page, Math.ceil(total / perPage))}`
}
