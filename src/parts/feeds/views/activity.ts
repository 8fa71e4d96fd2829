import { pageIn } from '#hosting/repositories/views/repository-page.ts'
import { eventsPerPage, loadActivity } from '#parts/timelines/activity.ts'
import { timelines } from '#parts/timelines/timelines.ts'
import { activityList } from '#parts/timelines/views/activity-list.ts'
import { buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { pager } from '#web/components/pager.ts'
import { html } from '#web/html.ts'
import type { Outcome, Visit } from '#web/page.ts'

/** Public events of the whole server, the same for everyone. `until` delays them as in the API. */
export async function timelinePage(visit: Visit, path: string, until: Date | null): Promise<Outcome> {
  const page = pageIn(visit.query)
  const slice = { limit: eventsPerPage, offset: (page - 1) * eventsPerPage, until }
  const { events, total } = await loadActivity(visit.db, timelines.everyone(), null, slice)
  const list = events.length
    ? activityList(events)
    : emptyState('pulse', 'Nothing lately', 'What happens in public repositories is shown here after a few minutes.')
  const feed = `${path}.atom`
  const body = html`<main class="public-timeline"><div class="title-bar"><h1>What happens in public</h1>${buttonLink('Feed', feed, { icon: 'rss' })}</div>
${list}${pager(path, {}, page, Math.ceil(total / eventsPerPage))}</main>`
  return { title: 'Timeline', body, feed }
}
