import { join } from 'node:path'
import { countStanding, listFollowedAmong, listFollowers, listFollowing, type Standing } from '#hosting/people/people.ts'
import { followButton, peopleList, personRow } from '#hosting/people/views/people-list.ts'
import { listOwned } from '#hosting/repositories/owned.ts'
import { ownedRepositories, repositoryCards } from '#hosting/repositories/views/owned-repositories.ts'
import { repositoryList } from '#hosting/repositories/views/repository-list.ts'
import { pageIn, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import type { Account } from '#identity/accounts.ts'
import { countContributions } from '#parts/profiles/contributions.ts'
import { listStarred } from '#parts/starring/starring.ts'
import { eventsPerPage, loadActivity } from '#parts/timelines/activity.ts'
import { timelines } from '#parts/timelines/timelines.ts'
import { activityList } from '#parts/timelines/views/activity-list.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { pager } from '#web/components/pager.ts'
import { tabs } from '#web/components/tabs.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'
import type { Outcome, Visit } from '#web/page.ts'
import { contributionCalendar } from './calendar.ts'
import { profileHeader } from './profile-header.ts'

export const assets = join(import.meta.dirname, '..', 'assets')

type Show = (visit: Visit, user: Account) => Promise<Html>

const sections: Record<string, { title: string; icon: string; show: Show }> = {
  overview: { title: 'Overview', icon: 'book', show: overview },
  repositories: { title: 'Repositories', icon: 'repo', show: repositories },
  stars: { title: 'Stars', icon: 'star', show: stars },
  followers: { title: 'Followers', icon: 'people', show: people(listFollowers, 'has no followers yet') },
  following: { title: 'Following', icon: 'person-add', show: people(listFollowing, 'follows nobody yet') },
}

/** The profile of a user; `tab` chooses what is shown of them. */
export async function profilePage(visit: Visit, user: Account): Promise<Outcome> {
  const asked = visit.query.get('tab') ?? ''
  const current = Object.hasOwn(sections, asked) ? asked : 'overview'
  const section = sections[current]
  const standing = await countStanding(visit.db, user)
  const [header, shown] = await Promise.all([profileHeader(visit, user, standing), section?.show(visit, user)])
  const body = html`<main class="profile">${header}<div class="profile-content">${sectionTabs(visit, user, standing, current)}${shown}</div></main>`
  const title = current === 'overview' ? user.login : `${section?.title} · ${user.login}`
  return { title, body, feed: `/${user.login}.atom` }
}

function sectionTabs({ visitor }: Visit, { id, login }: Account, standing: Standing, current: string): Html {
  const counts: Record<string, number> = {
    repositories: standing.public_repos + (visitor?.id === id ? standing.private_repos : 0),
    followers: standing.followers,
    following: standing.following,
  }
  const items = Object.entries(sections).map(([name, { title, icon }]) => ({
    text: title,
    href: name === 'overview' ? `/${login}` : `/${login}?tab=${name}`,
    icon,
    count: counts[name],
    current: name === current,
  }))
  return tabs('Profile', items)
}

const mostPopular = 6

async function overview(visit: Visit, user: Account): Promise<Html> {
  const viewer = viewerOf(visit)
  const named = visit.visitor ? viewer : null
  const page = pageIn(visit.query)
  const slice = { limit: eventsPerPage, offset: (page - 1) * eventsPerPage }
  const everything = { find: '', type: 'all', language: '', sort: 'stars' } as const
  const [popular, days, activity] = await Promise.all([
    listOwned(visit.db, viewer, user, everything, { limit: mostPopular, offset: 0 }),
    countContributions(visit.db, user, named),
    loadActivity(visit.db, timelines.actor(user), named, slice),
  ])
  const list = activity.events.length
    ? activityList(activity.events)
    : emptyState('pulse', 'Nothing lately', `What ${user.login} does in repositories that you can see is shown here.`)
  return html`${popular.rows.length > 0 && html`<section><h2>Popular repositories</h2>${repositoryCards(popular.rows)}</section>`}
${contributionCalendar(days)}<section><h2>Activity</h2>${list}${pager(`/${user.login}`, {}, page, Math.ceil(activity.total / eventsPerPage))}</section>`
}

function repositories(visit: Visit, user: Account): Promise<Html> {
  const creates = visit.visitor?.id === user.id
  return ownedRepositories(visit, user, { path: `/${user.login}`, base: { tab: 'repositories' }, creates })
}

const perPage = 30

async function stars(visit: Visit, user: Account): Promise<Html> {
  const page = pageIn(visit.query)
  const slice = { limit: perPage, offset: (page - 1) * perPage }
  const order = { sort: 'created', direction: 'desc' }
  const { rows, total } = await listStarred(visit.db, viewerOf(visit), user, order, slice)
  if (!rows.length)
    return emptyState('star', `${user.login} has no stars yet`, 'A star keeps a repository at hand and shows appreciation.')
  const list = repositoryList(
    rows.map((repo) => ({ repo, when: html`Starred ${moment(repo.starred_at)}` })),
    { label: 'Stars' },
  )
  return html`${list}${pager(`/${user.login}`, { tab: 'stars' }, page, Math.ceil(total / perPage))}`
}

function people(list: typeof listFollowers, nobody: string): Show {
  return async (visit, user) => {
    const page = pageIn(visit.query)
    const { rows, total } = await list(visit.db, user, { limit: perPage, offset: (page - 1) * perPage })
    if (!rows.length) return emptyState('people', `${user.login} ${nobody}`)
    const followed = visit.visitor ? await listFollowedAmong(visit.db, visit.visitor, rows) : new Set<number>()
    const items = rows.map((one) => personRow(one, { actions: followButton(visit, one, followed.has(one.id)) }))
    const tab = visit.query.get('tab') ?? 'followers'
    return html`${peopleList(items)}${pager(`/${user.login}`, { tab }, page, Math.ceil(total / perPage))}`
  }
}
