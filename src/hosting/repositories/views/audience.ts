import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Slice } from '#platform/listed.ts'
import { segments } from '#web/components/tabs.ts'
import { type Html, html } from '#web/html.ts'
import { pathOf } from './repository-page.ts'

export type Audience = 'stargazers' | 'watchers' | 'forks'

const names = { stargazers: 'Stargazers', watchers: 'Watchers', forks: 'Forks' }

/** The heading of the pages of people and repositories that follow this one, with links to the others. */
export function audienceHead(repo: Repository, current: Audience): Html {
  const link = (name: Audience, text: string, icon: string, count: number) => ({
    text,
    href: `${pathOf(repo)}/${name}`,
    icon,
    count,
    current: name === current,
  })
  return html`<div class="title-bar"><h1>${names[current]}</h1>${segments('Audience', [
    link('stargazers', 'Stars', 'star', repo.stargazers_count),
    link('watchers', 'Watchers', 'eye', repo.subscribers_count),
    link('forks', 'Forks', 'repo-forked', repo.forks_count),
  ])}</div>`
}

export const perPage = 60

/** A page from the end of a list that begins with the oldest, so that the newest come first. */
export async function newestFirst<R>(total: number, page: number, read: (slice: Slice) => Promise<{ rows: R[] }>): Promise<R[]> {
  const end = total - (page - 1) * perPage
  if (end <= 0) return []
  const offset = Math.max(0, end - perPage)
  return (await read({ offset, limit: end - offset })).rows.toReversed()
}
