import { longestName, type SavedFilter } from '#parts/notifications/saved-filters.ts'
import { button, shortCount } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { counter } from '#web/components/label.ts'
import { menu } from '#web/components/menu.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'
import { addressOf, inbox, type Listing, type View, viewIn, views } from './inbox-query.ts'
import { nameOf } from './thread-list.ts'

const symbols: Record<View, string> = {
  unread: 'inbox',
  participating: 'mention',
  all: 'stack',
  saved: 'bookmark',
  done: 'check',
  snoozed: 'clock',
}

const mostRepositories = 10

/** Views, saved filters, and repositories with unread threads. On a telephone the views are a row above the list. */
export function inboxSide(visit: Visit, listing: Listing): Html {
  const { view, q, unread, filters, counts, repositories } = listing
  const filtered = filters.some((filter) => isShown(filter, listing))
  const link = (href: string, text: string, symbol: string, current: boolean, count?: number) =>
    html`<a class="side-link" href="${href}"${current && html` aria-current="page"`}>${icon(symbol)}<span class="side-text">${text}</span>${count ? counter(shortCount(count)) : undefined}</a>`
  const list = Object.entries(views).map(([key, title]) =>
    link(
      addressOf(listing, { view: key as View, q: '' }),
      title,
      symbols[key as View],
      key === view && !q,
      key === 'unread' ? unread : 0,
    ),
  )
  const saved = filters.map(
    (filter, index) =>
      html`<li>${link(addressOf(listing, { view: viewIn(filter.view), q: filter.query }), filter.name, 'filter', isShown(filter, listing), counts[index])}${filterMenu(visit, listing, filter)}</li>`,
  )
  const places = repositories.slice(0, mostRepositories).map((repo) => {
    const term = `repo:${nameOf(repo)}`
    return link(addressOf(listing, { view: 'unread', q: term }), nameOf(repo), 'repo', !filtered && q === term, repo.unread)
  })
  return html`<nav aria-label="Views">${list}</nav>
${saved.length > 0 && html`<nav aria-label="Saved filters"><h2>Filters</h2><ul class="plain">${saved}</ul></nav>`}
${places.length > 0 && html`<nav class="side-repositories" aria-label="Repositories with unread notifications"><h2>Repositories</h2>${places}</nav>`}
<nav class="side-more" aria-label="Settings of notifications">${link('/settings/notifications', 'Preferences', 'gear', false)}${link('/watching', 'Watched repositories', 'eye', false)}</nav>`
}

const isShown = (filter: SavedFilter, { view, q }: Listing) => viewIn(filter.view) === view && filter.query === q

function filterMenu(visit: Visit, listing: Listing, { id, name }: SavedFilter): Html {
  const back = html`<input type="hidden" name="back" value="${addressOf(listing)}">`
  const rename = html`${back}<input type="hidden" name="id" value="${id}"><input name="name" value="${name}" maxlength="${longestName}" required aria-label="New name of ${name}" autocomplete="off">${button('Rename', { size: 'small', name: 'act', value: 'rename' })}`
  const remove = html`${back}<input type="hidden" name="id" value="${id}"><button name="act" value="delete">${icon('trash')}<span>Delete</span></button>`
  return menu(
    icon('kebab-horizontal'),
    [
      { markup: form(visit, `${inbox}/filters`, rename, { class: 'filter-name' }) },
      'divider',
      { markup: form(visit, `${inbox}/filters`, remove, { class: 'inline' }) },
    ],
    { label: `Change ${name}` },
  )
}

/** Saves what the page shows under a name. */
export function saveFilterMenu(visit: Visit, listing: Listing): Html | undefined {
  const { q, view, filters } = listing
  if (!q || filters.some((filter) => isShown(filter, listing))) return undefined
  const inputs = html`<input type="hidden" name="back" value="${addressOf(listing)}"><input type="hidden" name="view" value="${view}"><input type="hidden" name="q" value="${q}">
<label for="filter-name">Name</label><input id="filter-name" name="name" maxlength="${longestName}" required autocomplete="off">${button('Save', { size: 'small', kind: 'primary', name: 'act', value: 'create' })}`
  return menu(html`<span class="button">${icon('bookmark')}<span>Save as</span></span>`, [
    { markup: form(visit, `${inbox}/filters`, inputs, { class: 'filter-name' }) },
  ])
}
