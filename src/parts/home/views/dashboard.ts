import { addressOf, type FeedChoice, isNarrowed } from '#parts/home/feed-choice.ts'
import type { Overview } from '#parts/home/overview.ts'
import type { Activity } from '#parts/timelines/activity.ts'
import { activityList } from '#parts/timelines/views/activity-list.ts'
import { buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { icon } from '#web/components/icon.ts'
import { banner } from '#web/components/toast.ts'
import { type Html, html } from '#web/html.ts'
import type { Outcome, SignedIn } from '#web/page.ts'
import { feedFilters } from './filters.ts'
import { programs } from './programs.ts'
import { side } from './side.ts'

export interface Dashboard {
  choice: FeedChoice
  /** Undefined if the chosen repository or person does not exist for the visitor. */
  activity: Activity | undefined
  /** Events after this are not on the page. */
  until: Date
  page: number
  more: boolean
  overview: Overview
  /** Undefined if the visitor has none. */
  invitations: Html | undefined
  find: string
}

/** The first page of a signed-in visitor. The script replaces the elements with ids. */
export function dashboard(visit: SignedIn, shown: Dashboard): Outcome {
  const { choice, overview, invitations, find, page } = shown
  const body = html`<main class="home"><h1 class="unseen">Home</h1>${banner(visit.flash.done)}${invitations}<div class="with-side"><section aria-labelledby="feed-title">
<div class="title-bar"><h2 id="feed-title">Activity</h2></div>${feedFilters(choice)}
<div id="home-activity"${page === 1 && html` data-stream="/timeline/stream"`}>${feed(visit, shown)}</div></section>${side(overview, find, programs(visit, 'aside'))}</div></main>`
  return { title: 'Home', body }
}

function feed(visit: SignedIn, { choice, activity, overview, until, page, more }: Dashboard): Html {
  if (!activity) {
    return emptyState(
      'search',
      'There is no such repository or person',
      'The name may be wrong, or you may not see it.',
      buttonLink('Show everything', '/'),
    )
  }
  if (!activity.events.length) {
    if (page > 1)
      return emptyState(
        'check',
        'That was everything',
        'Older activity is not kept here.',
        buttonLink('Back to the newest', addressOf(choice)),
      )
    if (isNarrowed(choice))
      return emptyState('filter', 'Nothing matches the filter', undefined, buttonLink('Show everything', '/'))
    return overview.repositories.total > 0 ? quiet() : start(visit)
  }
  const next = addressOf(choice, { until: String(until.getTime()), page: String(page + 1) })
  const newest = page > 1 && html`<p class="more"><a href="${addressOf(choice)}">${icon('arrow-up')} Back to the newest</a></p>`
  return html`${newest}${activityList(activity.events)}${more ? html`<p class="more load-more">${buttonLink('Load more', next)}</p>` : html`<p class="more muted">That is everything of the last 90 days.</p>`}`
}

const quiet = () =>
  emptyState(
    'zap',
    'It is quiet here',
    'Watch repositories and follow people: what happens there shows up here.',
    html`${buttonLink('Explore', '/explore', { icon: 'telescope', kind: 'primary' })}`,
  )

const steps = [
  ['repo', 'Create a repository', 'A home for your code, public or private.', '/new'],
  ['repo-push', 'Import a repository', 'From git, Subversion, Mercurial or TFVC, with its history.', '/new/import'],
  ['people', 'Follow people', 'What they do in public shows up here.', '/explore?tab=people'],
  ['telescope', 'Explore', 'Find repositories to star and to watch.', '/explore'],
] as const

/** For somebody who has nothing yet. */
const start = ({
  visitor,
}: SignedIn) => html`<section class="start" aria-labelledby="start-title"><h2 id="start-title">Welcome, ${visitor.name || visitor.login}</h2>
<p class="muted">This page shows what happens in the repositories that you watch, and what the people do whom you follow. To begin:</p>
<ul class="steps">${steps.map(([name, title, text, href]) => html`<li><a href="${href}">${icon(name, { size: 24 })}<span><strong>${title}</strong><span class="muted">${text}</span></span></a></li>`)}</ul></section>`
