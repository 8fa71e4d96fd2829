import { listForks } from '#hosting/repositories/forks.ts'
import { audienceHead } from '#hosting/repositories/views/audience.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { repositoryList } from '#hosting/repositories/views/repository-list.ts'
import { loadVisibleRepository, pageIn, pathOf, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { pager } from '#web/components/pager.ts'
import { segments } from '#web/components/tabs.ts'
import { html } from '#web/html.ts'
import { type Outcome, type PageRoute, show, type Visit } from '#web/page.ts'

export const pages: PageRoute[] = [
  show('/:owner/:repo/forks', showForks),
  // The name that people know from elsewhere.
  show('/:owner/:repo/network/members', async (visit) => ({ to: `${pathOf(await loadVisibleRepository(visit))}/forks` })),
]

const sorts = { newest: 'Newest', oldest: 'Oldest', stargazers: 'Most stars' }
const perPage = 30

async function showForks(visit: Visit): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const page = pageIn(visit.query)
  const asked = visit.query.get('sort') ?? ''
  const sort = Object.hasOwn(sorts, asked) ? asked : 'newest'
  const slice = { limit: perPage, offset: (page - 1) * perPage }
  const { rows, total } = await listForks(visit.db, viewerOf(visit), repo, sort, slice)
  const path = `${pathOf(repo)}/forks`
  const order = segments(
    'Order',
    Object.entries(sorts).map(([name, text]) => ({ text, href: `${path}?sort=${name}`, current: name === sort })),
  )
  const list = rows.length
    ? html`<p>${order}</p>${repositoryList(
        rows.map((fork) => ({ repo: fork })),
        { label: 'Forks' },
      )}${pager(path, sort === 'newest' ? {} : { sort }, page, Math.ceil(total / perPage))}`
    : emptyState(
        'repo-forked',
        'No forks yet',
        'A fork is a copy of the repository in another account. Fork it to propose changes.',
        buttonLink('Fork this repository', `${pathOf(repo)}/fork`, { icon: 'repo-forked' }),
      )
  return {
    title: `Forks · ${repo.owner_login}/${repo.name}`,
    body: html`<main>${audienceHead(repo, 'forks')}${list}</main>`,
    above: repositoryHeader(repo),
  }
}
