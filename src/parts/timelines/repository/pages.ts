import { join } from 'node:path'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, pageIn, pathOf, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { eventsPerPage, loadActivity } from '#parts/timelines/activity.ts'
import { timelines } from '#parts/timelines/timelines.ts'
import { activityList } from '#parts/timelines/views/activity-list.ts'
import { mostEvents } from '#variants.ts'
import { buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { pager } from '#web/components/pager.ts'
import { segments } from '#web/components/tabs.ts'
import { html } from '#web/html.ts'
import { type Outcome, type PageRoute, show, type Visit } from '#web/page.ts'
import { type Period, periods, readGrowth } from './growth.ts'
import { growthPlot } from './views/growth-plot.ts'

export const assets = join(import.meta.dirname, 'assets')

export const pages: PageRoute[] = [show('/:owner/:repo/activity', activityPage)]

/** Kinds of events that can be shown alone. */
const kinds: Record<string, { text: string; types?: string[] }> = {
  all: { text: 'All' },
  code: { text: 'Code', types: ['PushEvent', 'CreateEvent', 'DeleteEvent', 'CommitCommentEvent'] },
  issues: { text: 'Issues', types: ['IssuesEvent', 'IssueCommentEvent'] },
  pulls: { text: 'Pull requests', types: ['PullRequestEvent', 'PullRequestReviewEvent', 'PullRequestReviewCommentEvent'] },
  releases: { text: 'Releases', types: ['ReleaseEvent'] },
  people: { text: 'People', types: ['WatchEvent', 'ForkEvent', 'MemberEvent', 'PublicEvent'] },
}

const chosen = <Key extends string>(options: Record<Key, unknown>, asked: string | null, otherwise: Key): Key =>
  asked !== null && Object.hasOwn(options, asked) ? (asked as Key) : otherwise

/** What happened in a repository, and how its stars and pushes grew. */
async function activityPage(visit: Visit): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const { db, query } = visit
  const period = chosen(periods, query.get('period'), 'month')
  const kind = chosen(kinds, query.get('kind'), 'all')
  const page = Math.min(pageIn(query), Math.ceil(mostEvents / eventsPerPage))
  const types = kinds[kind]?.types
  const slice = { offset: (page - 1) * eventsPerPage, ...(types && { types }) }
  const [growth, activity] = [
    await readGrowth(db, repo, period),
    await loadActivity(db, timelines.repository(repo), viewerOf(visit), slice),
  ]
  const path = `${pathOf(repo)}/activity`
  const address = (changed: { period?: string; kind?: string }) => `${path}?${new URLSearchParams({ period, kind, ...changed })}`
  const lengths = (Object.keys(periods) as Period[]).map((name) => ({
    text: periods[name].name,
    href: address({ period: name }),
    current: name === period,
  }))
  const choices = Object.entries(kinds).map(([name, { text }]) => ({
    text,
    href: address({ kind: name }),
    current: name === kind,
  }))
  const list = activity.events.length
    ? html`${activityList(activity.events)}${pager(path, { period, kind }, page, Math.ceil(activity.total / eventsPerPage))}`
    : emptyState('pulse', 'Nothing lately', 'Pushes, issues, pull requests, releases and stars of the last 90 days appear here.')
  const feed = `${pathOf(repo)}.atom`
  const body = html`<main class="repository-activity"><div class="title-bar"><h1>Activity</h1><span class="space"></span>${segments('Period', lengths)}${buttonLink('', feed, { icon: 'rss', kind: 'invisible', label: 'Atom feed of the activity' })}</div>
${growthPlot(growth)}<p>${segments('Kinds of activity', choices)}</p>${list}</main>`
  return { title: `Activity · ${repo.owner_login}/${repo.name}`, body, above: repositoryHeader(repo, 'activity'), feed }
}
