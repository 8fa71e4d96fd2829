import { repositoryList } from '#hosting/repositories/views/repository-list.ts'
import { pageIn, pathOf, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { listStarred } from '#parts/starring/starring.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { pager } from '#web/components/pager.ts'
import { segments } from '#web/components/tabs.ts'
import { moment } from '#web/components/time.ts'
import { html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn } from '#web/page.ts'

export const pages: PageRoute[] = [showOwn('/stars', starsPage)]

const perPage = 30
const sorts = { created: 'Recently starred', updated: 'Recently active' } as const

/** The visitor's stars. */
async function starsPage(visit: SignedIn): Promise<Outcome> {
  const sort = visit.query.get('sort') === 'updated' ? 'updated' : 'created'
  const page = pageIn(visit.query)
  const slice = { limit: perPage, offset: (page - 1) * perPage }
  const order = { sort, direction: 'desc' }
  const { rows, total } = await listStarred(visit.db, viewerOf(visit), visit.visitor, order, slice)
  const choices = Object.entries(sorts).map(([name, text]) => ({ text, href: `/stars?sort=${name}`, current: name === sort }))
  const list = rows.length
    ? repositoryList(
        rows.map((repo) => ({
          repo,
          when: html`Starred ${moment(repo.starred_at)}`,
          action: form(visit, `${pathOf(repo)}/unstar`, button('Unstar', { icon: 'star-fill', size: 'small' }), {
            class: 'inline',
          }),
        })),
      )
    : emptyState(
        'star',
        page > 1 ? 'There are no more stars' : 'You have no stars yet',
        'A star keeps a repository here, and shows its people that you like it.',
        buttonLink('Explore', '/explore', { icon: 'telescope' }),
      )
  const bar = html`<div class="title-bar"><h1>Your stars</h1>${total > 1 && segments('Order', choices)}</div>`
  return {
    title: 'Your stars',
    body: html`<main>${bar}${list}${pager('/stars', { sort }, page, Math.ceil(total / perPage))}</main>`,
  }
}
