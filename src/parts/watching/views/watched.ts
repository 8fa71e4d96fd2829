import type { RepositoryName } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import type { Listed } from '#platform/listed.ts'
import { avatar } from '#web/components/avatar.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { badge } from '#web/components/label.ts'
import { pager } from '#web/components/pager.ts'
import { box } from '#web/components/table.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type SignedIn } from '#web/page.ts'

export const perPage = 50

/** The repositories that the visitor watches. */
export function watchedPage(visit: SignedIn, { rows, total }: Listed<RepositoryName>, page: number): Outcome {
  const list = rows.length
    ? box(
        rows.map((repo) => row(visit, repo)),
        { label: 'Watched repositories' },
      )
    : emptyState(
        'eye',
        page > 1 ? 'There are no more repositories' : 'You watch no repository',
        'You are notified of what happens in the repositories that you watch, and it shows up on your first page.',
        buttonLink('Explore', '/explore', { icon: 'telescope' }),
      )
  const body = html`<main><div class="title-bar"><h1>Watching</h1>${total > 0 && html`<span class="muted">${total} ${total === 1 ? 'repository' : 'repositories'}</span>`}</div>${list}${pager('/watching', {}, page, Math.ceil(total / perPage))}</main>`
  return { title: 'Watching', body }
}

function row(visit: SignedIn, repo: RepositoryName): Html {
  const path = pathOf(repo)
  const actions = html`${buttonLink('Choose', `${path}/subscription`, { size: 'small', icon: 'gear', label: `Choose what notifies you of ${path.slice(1)}` })}
${form(visit, `${path}/watch`, html`<input type="hidden" name="level" value="participating">${button('Unwatch', { size: 'small', icon: 'eye-closed' })}`, { class: 'inline' })}`
  return html`<div class="repository-row"><div><div class="repository-name">${avatar({ id: repo.owner_id, type: repo.owner_type }, 20)} <span><a href="/${repo.owner_login}">${repo.owner_login}</a> / <a href="${path}"><strong>${repo.name}</strong></a></span> ${repo.private && badge('Private')}${repo.parent_id !== null && badge('Fork')}</div>
${repo.description && html`<p class="repository-description" dir="auto">${repo.description}</p>`}</div><div class="buttons">${actions}</div></div>`
}
