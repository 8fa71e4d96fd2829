import { isSignUpOpen } from '#config.ts'
import type { EventRecord } from '#parts/timelines/records.ts'
import { activityList } from '#parts/timelines/views/activity-list.ts'
import { buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { icon } from '#web/components/icon.ts'
import { html } from '#web/html.ts'
import type { Outcome, Visit } from '#web/page.ts'
import { programs } from './programs.ts'

const points = [
  ['rss', 'Follow what happens', 'Stars, pushes, issues, reviews and releases as one timeline, live and as feeds.'],
  ['inbox', 'Answer what matters', 'Notifications with their reason, and an inbox that empties.'],
  ['broadcast', 'Connect other systems', 'Signed webhooks with their history, and an API that the usual clients speak.'],
] as const

/** The first page for visitors who are not signed in. */
export function welcome(visit: Visit, events: EventRecord[]): Outcome {
  const open = isSignUpOpen(visit.belfry.settings)
  const list = events.length
    ? html`${activityList(events, { label: 'Public activity' })}<p class="more"><a href="/timeline">More public activity</a></p>`
    : emptyState('telescope', 'Nothing has happened in public yet', 'Public repositories, stars and releases will show up here.')
  const body = html`<main class="home welcome"><div class="hero"><h1>Belfry: everything that happens around your code</h1>
<p>A server for repositories, issues and pull requests, and for everything that tells people about them.</p>
<p class="buttons">${open && buttonLink('Make an account', '/signup', { kind: 'primary' })}${buttonLink('Sign in', '/login', open ? {} : { kind: 'primary' })}${buttonLink('Explore', '/explore', { icon: 'telescope' })}</p></div>
<ul class="points">${points.map(([name, title, text]) => html`<li>${icon(name, { size: 24 })}<h2>${title}</h2><p>${text}</p></li>`)}</ul>
<div class="with-side"><section aria-labelledby="public-activity"><h2 id="public-activity">Public activity</h2>${list}</section><aside aria-label="For programs">${programs(visit, 'aside')}</aside></div></main>`
  return { title: 'Welcome', body, feed: '/timeline.atom' }
}
