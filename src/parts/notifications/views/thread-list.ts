import type { RepositoryName } from '#hosting/repositories/repositories.ts'
import { addressesOf, titleOf } from '#parts/notifications/json.ts'
import { reasonNameOf, ruleOf } from '#parts/notifications/reasons.ts'
import type { Thread } from '#parts/notifications/threads.ts'
import { avatar } from '#web/components/avatar.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { icon } from '#web/components/icon.ts'
import { stateIcon } from '#web/components/label.ts'
import { pager } from '#web/components/pager.ts'
import { box } from '#web/components/table.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'
import { addressOf, type InboxQuery, inbox, type Listing, perPage, writeShown } from './inbox-query.ts'
import { rowButtons, threadButtons } from './thread-actions.ts'

export function threadList(visit: Visit, listing: Listing, now: Date): Html {
  const { threads, total, page, view, thread, list } = listing
  if (!threads.length) return emptyList(listing)
  const groups = Map.groupBy(threads, (one) => groupOf(one, listing, now))
  const sections = [...groups].map(
    ([title, some]) => html`<section><h2 class="small">${title}</h2>${box(some.map((one) => row(one, listing)))}</section>`,
  )
  const bar = html`<div class="bar"><label hidden><input type="checkbox" id="every"> All</label>${threadButtons(list, 'selection')}</div>`
  const all = html`<input type="hidden" name="act" value="all"><input type="hidden" name="read_at" value="${listing.read_at.toISOString()}">${button('Mark everything as read', { icon: 'checklist', size: 'small' })}`
  const address = addressOf(listing, { page, thread })
  return html`${form(visit, address, html`${bar}${sections}`, { class: 'selection', enter: 'nothing' })}
${pager(inbox, Object.fromEntries(new URL(addressOf(listing), 'http://x').searchParams), page, Math.ceil(total / perPage))}
${view === 'unread' && !listing.q && form(visit, address, all, { class: 'more' })}`
}

function groupOf(thread: Thread, { group }: InboxQuery, now: Date): string {
  if (group === 'repo') return nameOf(thread.repo)
  if (group === 'time') return dayOf(thread.updated_at, now)
  const reason = reasonNameOf(thread.reason, thread)
  return reason.charAt(0).toUpperCase() + reason.slice(1)
}

function emptyList(listing: InboxQuery): Html {
  const { view, q, page } = listing
  const everything = buttonLink('Show everything', addressOf({ ...listing, q: '', view: 'all' }))
  if (q) return emptyState('filter', 'No notification matches the filter.', undefined, everything)
  if (page > 1) return emptyState('inbox', 'There are no more notifications.', undefined, everything)
  const texts = {
    unread: ['check-circle', 'No unread notifications.', 'You are all caught up. New activity appears here by itself.'],
    participating: [
      'mention',
      'No notifications of threads that you participate in.',
      'Threads where you are mentioned, assigned or asked for a review appear here.',
    ],
    all: ['inbox', 'No notifications.', 'Watch repositories, and their activity appears here.'],
    saved: ['bookmark', 'No saved notifications.', 'Save a thread to keep it here, also when it is done.'],
    done: ['check', 'No done notifications.', 'Threads that you are done with are kept here for five months.'],
    snoozed: ['clock', 'No snoozed notifications.', 'Snooze a thread, and it comes back when you want it.'],
  }[view] as [string, string, string]
  return emptyState(...texts)
}

export const nameOf = ({ owner_login, name }: Pick<RepositoryName, 'owner_login' | 'name'>) => `${owner_login}/${name}`

const day = 86_400_000

function dayOf(at: Date, now: Date): string {
  const days = Math.floor(now.getTime() / day) - Math.floor(at.getTime() / day)
  return days <= 0 ? 'Today' : days === 1 ? 'Yesterday' : days < 7 ? 'This week' : days < 31 ? 'This month' : 'Older'
}

const kindOf = ({ type }: Thread) => (type === 'PullRequest' ? 'Pull request' : type.replace('Repository', ''))
const icons = {
  Commit: 'git-commit',
  Release: 'tag',
  RepositoryInvitation: 'mail',
  RepositoryImport: 'repo-push',
  RepositoryTransfer: 'arrow-switch',
  Webhook: 'webhook',
}
const anchors = {
  IssueComment: 'issuecomment-',
  PullRequestReview: 'pullrequestreview-',
  PullRequestReviewComment: 'discussion_r',
  CommitComment: 'commitcomment-',
}

/** The page of the subject, at its latest comment. */
export function subjectAddress(thread: Thread): string {
  const { latest_type, latest_id, repo } = thread
  const { html_url } = addressesOf(thread, { api: '', web: '' }, nameOf(repo))
  return `${html_url}${latest_type && latest_id ? `#${anchors[latest_type]}${latest_id}` : ''}`
}

export function subjectIcon({ type, state }: Thread): Html {
  if (type === 'Issue' || type === 'PullRequest') return stateIcon(state ?? 'open', type === 'Issue' ? 'issue' : 'pull')
  return html`<span class="state-icon">${icon(icons[type], { label: kindOf({ type } as Thread) })}</span>`
}

/** Whether the reading pane has more to show than the list. Requests to the user are answered on their pages. */
const isReadable = ({ type }: Thread) => type === 'Issue' || type === 'PullRequest' || type === 'Release' || type === 'Commit'

function row(thread: Thread, listing: Listing): Html {
  const { id, repo, number, unread, reason, updated_at, snoozed_until, done } = thread
  const title = titleOf(thread, nameOf(repo))
  const opened = id === listing.thread
  const people = listing.actors.get(id) ?? []
  const names = people.map(({ login }) => login).join(', ')
  const place = [listing.group !== 'repo' && nameOf(repo), number !== null && `#${number}`].filter(Boolean).join(' ')
  const back = done && snoozed_until && html` · returns ${moment(snoozed_until)}`
  return html`<div class="thread${unread && ' unread'}${opened && ' opened'}" data-id="${id}"><input type="checkbox" name="id" value="${writeShown(thread)}" aria-label="Select ${title}">
<span class="dot">${unread && html`<span class="unseen">unread</span>`}</span>${subjectIcon(thread)}
<div class="about"><p class="muted">${place && `${place} · `}<span title="${ruleOf(reason, thread)}">${reasonNameOf(reason, thread)}</span>${back}</p>
<a class="title" href="${subjectAddress(thread)}"${isReadable(thread) && html` data-pane`}${opened && html` aria-current="true"`}>${title}</a></div>
${names && html`<span class="actors" title="${names}">${people.map((person) => avatar(person, 20))}</span>`}<span class="when muted">${moment(updated_at)}</span>${rowButtons(thread, title)}</div>`
}
