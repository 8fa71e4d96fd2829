import { listOwned, listOwnedLanguages, type OwnedFilter, repositorySorts, repositoryTypes } from '#hosting/repositories/owned.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { languageDot } from '#hosting/statistics/views/language.ts'
import type { Account } from '#identity/accounts.ts'
import { buttonLink, shortCount } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { icon } from '#web/components/icon.ts'
import { badge } from '#web/components/label.ts'
import { menu } from '#web/components/menu.ts'
import { pager } from '#web/components/pager.ts'
import { typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'
import { repositoryList } from './repository-list.ts'
import { pageIn, pathOf, viewerOf } from './repository-page.ts'

/** A few repositories side by side. */
export function repositoryCards(repos: Repository[]): Html {
  return html`<ul class="plain repository-cards">${repos.map(card)}</ul>`
}

function card(repo: Repository): Html {
  const counted = (count: number, name: string, address: string, what: string) =>
    count > 0 &&
    html`<a href="${pathOf(repo)}/${address}">${icon(name)} ${shortCount(count)}<span class="unseen"> ${what}</span></a>`
  const facts = [
    repo.language !== null && languageDot(repo.language),
    counted(repo.stargazers_count, 'star', 'stargazers', 'stars'),
    counted(repo.forks_count, 'repo-forked', 'forks', 'forks'),
  ]
  return html`<li><h3><a href="${pathOf(repo)}">${repo.name}</a> ${badge(repo.private ? 'Private' : 'Public')}</h3>${repo.description && html`<p dir="auto">${repo.description}</p>`}${facts.some(Boolean) && html`<p class="facts-line">${facts}</p>`}</li>`
}

const perPage = 30

const typeNames: Record<OwnedFilter['type'], string> = {
  all: 'All',
  public: 'Public',
  private: 'Private',
  sources: 'Sources',
  forks: 'Forks',
  archived: 'Archived',
  templates: 'Templates',
}
const sortNames: Record<OwnedFilter['sort'], string> = { updated: 'Last updated', name: 'Name', stars: 'Stars' }

const oneOf = <T extends string>(names: readonly T[], asked: string | null): T =>
  names.find((name) => name === asked) ?? (names[0] as T)

function filterIn(query: URLSearchParams): OwnedFilter {
  return {
    find: typed(query, 'q').slice(0, 100),
    type: oneOf(repositoryTypes, query.get('type')),
    language: typed(query, 'language').slice(0, 60),
    sort: oneOf(repositorySorts, query.get('sort')),
  }
}

interface OwnedList {
  path: string
  /** A part of every address, such as the tab. */
  base?: Record<string, string>
  /** Whether the visitor may create repositories there. */
  creates: boolean
}

/** The repositories of an account, to find, narrow and sort. */
export async function ownedRepositories(visit: Visit, owner: Account, { path, base = {}, creates }: OwnedList): Promise<Html> {
  const viewer = viewerOf(visit)
  const filter = filterIn(visit.query)
  const page = pageIn(visit.query)
  const slice = { limit: perPage, offset: (page - 1) * perPage }
  const [{ rows, total }, languages] = await Promise.all([
    listOwned(visit.db, viewer, owner, filter, slice),
    listOwnedLanguages(visit.db, viewer, owner),
  ])
  const chosen = queryOf(filter)
  const narrowed = Boolean(filter.find || filter.language || filter.type !== 'all')
  return html`${filterBar(path, base, filter, languages, creates && newLink(owner))}
${narrowed && html`<p class="filter-result" role="status"><strong>${total}</strong> ${total === 1 ? 'repository matches' : 'repositories match'} your choice. <a href="${addressOf(path, base)}">Show all</a></p>`}
${
  rows.length > 0
    ? repositoryList(
        rows.map((repo) => ({ repo })),
        { owned: true },
      )
    : !narrowed && noRepositories(visit, owner, creates)
}
${pager(path, { ...base, ...chosen }, page, Math.ceil(total / perPage))}`
}

function noRepositories({ visitor }: Visit, owner: Account, creates: boolean): Html {
  if (!creates) return emptyState('repo', `${owner.login} has no repositories that you can see`)
  const whose = visitor?.id === owner.id ? 'You have' : `${owner.login} has`
  const action = html`${buttonLink('New repository', `/new?owner=${owner.login}`, { kind: 'primary' })}${buttonLink('Import', `/new/import?owner=${owner.login}`)}`
  return emptyState('repo', `${whose} no repositories yet`, 'Create one, or import one that you have elsewhere.', action)
}

const newLink = ({ login }: Account) => buttonLink('New', `/new?owner=${login}`, { kind: 'primary', icon: 'repo' })

/** Only what differs from the default. */
function queryOf({ find, type, language, sort }: OwnedFilter): Record<string, string> {
  return {
    ...(find && { q: find }),
    ...(type !== 'all' && { type }),
    ...(language && { language }),
    ...(sort !== 'updated' && { sort }),
  }
}

function addressOf(path: string, query: Record<string, string>) {
  const text = new URLSearchParams(query).toString()
  return text ? `${path}?${text}` : path
}

function filterBar(
  path: string,
  base: Record<string, string>,
  filter: OwnedFilter,
  languages: string[],
  action: Html | false,
): Html {
  const to = (change: Partial<OwnedFilter>) => addressOf(path, { ...base, ...queryOf({ ...filter, ...change }) })
  const choices = <T extends string>(
    title: string,
    chosen: T,
    items: [T, string][],
    change: (value: T) => Partial<OwnedFilter>,
  ) =>
    menu(
      html`<span class="button">${title} ${icon('triangle-down')}</span>`,
      items.map(([value, text]) => ({
        text,
        href: to(change(value)),
        current: value === chosen,
        ...(value === chosen && { icon: 'check' }),
      })),
    )
  const kept = Object.entries({ ...base, ...queryOf({ ...filter, find: '' }) }).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  const types = repositoryTypes.map((type): [OwnedFilter['type'], string] => [type, typeNames[type]])
  const sorts = repositorySorts.map((sort): [OwnedFilter['sort'], string] => [sort, sortNames[sort]])
  const known: [string, string][] = [['', 'All languages'], ...languages.map((name): [string, string] => [name, name])]
  return html`<div class="filter-bar"><form method="get" action="${path}" role="search">${kept}<input type="search" name="q" value="${filter.find}" placeholder="Find a repository" aria-label="Find a repository" maxlength="100"></form>
${choices('Type', filter.type, types, (type) => ({ type }))}${languages.length > 0 && choices('Language', filter.language, known, (language) => ({ language }))}${choices('Sort', filter.sort, sorts, (sort) => ({ sort }))}${action}</div>`
}
