import type { Entry } from '#git/tree-entries.ts'
import { encodePath } from '#hosting/refs/json.ts'
import type { Release } from '#hosting/releases/releases.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import type { Contributor } from '#hosting/statistics/statistics.ts'
import { languageBar } from '#hosting/statistics/views/languages.ts'
import type { Listed } from '#platform/listed.ts'
import { avatar } from '#web/components/avatar.ts'
import { shortCount } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { badge, counter } from '#web/components/label.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'
import { type CodeLocation, codeAddress } from '../code-location.ts'
import { findLicense } from '../licenses.ts'
import { licenseNames } from '../well-known-files.ts'

export interface RepositoryFacts {
  readme: boolean
  /** Of the root. */
  entries: Entry[]
  /** One release, and their number. */
  releases: Listed<Release>
  languages: Record<string, number> | undefined
  contributors: Contributor[] | undefined
}

/** Beside the files of a repository: what it is. */
export function aboutRepository(location: CodeLocation, facts: RepositoryFacts): Html {
  const { languages } = facts
  return html`${about(location, facts)}${releases(location, facts)}${contributors(facts)}
${languages && Object.keys(languages).length > 0 && html`<section aria-labelledby="languages"><h2 id="languages">Languages</h2>${languageBar(languages)}</section>`}`
}

function about(location: CodeLocation, { readme, entries }: RepositoryFacts): Html {
  const { repo } = location
  const { description, homepage, topics, stargazers_count, subscribers_count, forks_count } = repo
  const path = pathOf(repo)
  const line = (name: string, href: string, text: string | Html) =>
    html`<li><a href="${href}">${icon(name)} <span>${text}</span></a></li>`
  const counted = (name: string, page: string, count: number, one: string) =>
    line(name, `${path}/${page}`, html`<strong>${shortCount(count)}</strong> ${count === 1 ? one : `${one}s`}`)
  const site = homepage && /^https?:\/\//i.test(homepage) ? homepage : undefined
  return html`<section aria-labelledby="about"><h2 id="about">About</h2>
<p>${description || html`<span class="muted">No description.</span>`}</p>
${site !== undefined && html`<p class="homepage">${icon('link')} <a href="${site}" rel="nofollow noreferrer">${site.replace(/^https?:\/\/|\/$/gi, '')}</a></p>`}
${topics.length > 0 && html`<p class="topics">${topics.map((topic) => html`<a class="topic" href="/search?${new URLSearchParams({ q: `topic:${topic}`, type: 'repositories' }).toString()}">${topic}</a>`)}</p>`}
<ul class="plain about-links">${readme && line('book', '#readme', 'README')}${license(location, entries)}
${line('pulse', `${path}/activity`, 'Activity')}${counted('star', 'stargazers', stargazers_count, 'star')}
${counted('eye', 'watchers', subscribers_count, 'watcher')}${counted('repo-forked', 'forks', forks_count, 'fork')}</ul></section>`
}

function license(location: CodeLocation, entries: Entry[]): Html | undefined {
  const file = licenseNames.map((name) => entries.find(({ type, path }) => type === 'blob' && name.test(path))).find(Boolean)
  if (!file) return undefined
  const known = findLicense(location.repo.license ?? '')
  const text = known && known.key !== 'other' ? known.name : 'License'
  return html`<li><a href="${codeAddress('blob', location, file.path)}">${icon('law')} <span>${text}</span></a></li>`
}

function releases({ repo }: CodeLocation, { releases: { rows, total } }: RepositoryFacts): Html {
  const path = `${pathOf(repo)}/releases`
  const [release] = rows
  return html`<section aria-labelledby="releases"><h2 id="releases"><a class="entry" href="${path}">Releases</a>${total > 0 && html` ${counter(shortCount(total))}`}</h2>
${
  release
    ? html`<p class="latest-release"><a href="${path}/tag/${encodePath(release.tag_name)}">${icon('tag')} <strong>${release.name || release.tag_name}</strong></a>
${release.prerelease ? badge('Pre-release', 'attention') : badge('Latest', 'success')}<br><span class="muted">${moment(release.published_at ?? release.created_at)}</span></p>`
    : html`<p class="muted">No releases yet.</p>`
}</section>`
}

const mostContributors = 14

function contributors({ contributors: all }: RepositoryFacts): Html | undefined {
  const people = (all ?? []).flatMap((one) => ('person' in one ? [one] : []))
  if (!people.length) return undefined
  const pictures = people.slice(0, mostContributors).map(({ person, contributions }) => {
    const text = `${person.login}, ${contributions} ${contributions === 1 ? 'commit' : 'commits'}`
    return html`<a href="/${person.login}" title="${text}" aria-label="${text}">${avatar(person, 32)}</a>`
  })
  const more = people.length - pictures.length
  return html`<section aria-labelledby="contributors"><h2 id="contributors">Contributors ${counter(people.length)}</h2>
<p class="contributors">${pictures}</p>${more > 0 && html`<p class="muted">and ${more} more</p>`}</section>`
}
