import type { RepositoryName } from '#hosting/repositories/repositories.ts'
import type { Former, InboxAct, Shown } from '#parts/notifications/inbox-actions.ts'
import { addressesOf, titleOf } from '#parts/notifications/json.ts'
import { reasonNameOf, ruleOf } from '#parts/notifications/reasons.ts'
import type { Thread } from '#parts/notifications/threads.ts'
import { pager } from '#web/components/pager.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'

export const inbox = '/notifications'

export const views = { unread: 'Unread', participating: 'Participating', all: 'All', done: 'Done' } as const
export type View = keyof typeof views

/** The query parameters of the page. */
export interface InboxQuery {
  view: View
  group: 'time' | 'repo'
  q: string
  page: number
}

export interface Listing extends InboxQuery {
  threads: Thread[]
  total: number
  /** The list has done threads: by the view or by `is:done`. */
  done: boolean
  unknown: string[]
  /** When the list was read. Updates after this are not marked as read. */
  read_at: Date
}

/** The result of an action, and how to undo it. */
export interface ActionResult {
  text: string
  undo?: { act: InboxAct; former: Former[] }
}

function addressOf(look: InboxQuery, change: Partial<InboxQuery> = {}): string {
  const { view, group, q, page } = { ...look, page: 1, ...change }
  const query = {
    ...(view !== 'unread' && { view }),
    ...(group !== 'time' && { group }),
    ...(q && { q }),
    ...(page > 1 && { page: String(page) }),
  }
  const text = new URLSearchParams(query).toString()
  return text ? `${inbox}?${text}` : inbox
}

/** The script replaces the elements with ids. The page also works without it. */
export function inboxBody(visit: Visit, listing: Listing, now: Date, result?: ActionResult): Html {
  return html`<main class="inbox" id="inbox"><h1>Notifications</h1>${navigation(listing)}${filterBox(listing)}
<div id="result" role="status">${result && resultNote(visit, listing, result)}</div>
<div id="threads">${list(visit, listing, now)}</div>${keys}</main>`
}

function navigation(look: Listing): Html {
  const tab = ([view, title]: [string, string]) =>
    html`<a href="${addressOf(look, { view: view as View })}"${view === look.view && html` aria-current="page"`}>${title}</a> `
  const grouped = (group: InboxQuery['group'], title: string) =>
    html`<a href="${addressOf(look, { group })}"${group === look.group && html` aria-current="true"`}>${title}</a> `
  return html`<nav class="views" aria-label="Views">${Object.entries(views).map(tab)}</nav>
<nav class="views groups" aria-label="Grouped by"><span class="muted">Grouped by</span> ${grouped('time', 'time')}${grouped('repo', 'repository')}</nav>`
}

const hint =
  'repo:owner/name, reason:mention, is: (unread, read, done, issue, pull, commit, release, invitation, transfer, webhook, import), - to exclude, and words of the title'

function filterBox({ view, group, q, unknown }: Listing): Html {
  return html`<form method="get" action="${inbox}" class="filter" role="search">
${view !== 'unread' && html`<input type="hidden" name="view" value="${view}">`}${group !== 'time' && html`<input type="hidden" name="group" value="${group}">`}
<label for="q">Filter</label> <input id="q" name="q" type="search" value="${q}" maxlength="500" autocomplete="off" spellcheck="false" autocapitalize="none"
aria-describedby="q-hint"> <button>Filter</button><p class="hint muted" id="q-hint">${hint}</p></form>
${unknown.length > 0 && html`<p class="error" role="alert">These terms are not valid and are ignored: ${unknown.map((word) => html`<code>${word}</code> `)}</p>`}`
}

function resultNote(visit: Visit, look: InboxQuery, { text, undo }: ActionResult): Html {
  const back =
    undo &&
    html`<input type="hidden" name="act" value="undo"><input type="hidden" name="undone" value="${undo.act}">
${undo.former.map((one) => html`<input type="hidden" name="former" value="${writeFormer(one)}">`)}<button class="link" id="undo">Undo</button>`
  return html`<div class="note">${text} ${back && form(visit, addressOf(look, { page: look.page }), back, { class: 'inline' })}</div>`
}

const writeFormer = ({ id, unread, done, state }: Former) =>
  [id, unread ? 'unread' : 'read', done ? 'done' : 'inbox', state ?? 'none'].join('.')

export function readShown(text: string): Shown[] {
  const [, id, time] = /^(\d{1,15})\.(\d{1,14})$/.exec(text) ?? []
  return id === undefined ? [] : [{ id: Number(id), updated_at: new Date(Number(time)) }]
}

/** Parses the hidden field of the undo form. Invalid values are ignored. */
export function readFormer(text: string): Former[] {
  const [, id, unread, done, state] =
    /^(\d{1,15})\.(unread|read)\.(done|inbox)\.(subscribed|muted|ignored|none)$/.exec(text) ?? []
  if (id === undefined) return []
  return [
    {
      id: Number(id),
      unread: unread === 'unread',
      done: done === 'done',
      state: state === 'none' ? null : (state as Former['state']),
    },
  ]
}

function list(visit: Visit, listing: Listing, now: Date): Html {
  const { threads, total, page, view, done } = listing
  if (!threads.length) return html`<p class="empty">${emptyText(listing)}</p>`
  const groups = Map.groupBy(threads, (thread) =>
    listing.group === 'repo' ? nameOf(thread.repo) : dayOf(thread.updated_at, now),
  )
  const sections = [...groups].map(
    ([title, some]) =>
      html`<section><h2 class="small">${title}</h2><ul class="threads">${some.map((thread) => row(thread, listing))}</ul></section>`,
  )
  const buttons = done
    ? html`<button name="act" value="undone">Move to inbox</button> <button name="act" value="mute">Mute</button>`
    : html`<button name="act" value="read">Mark as read</button> <button name="act" value="done">Done</button> <button name="act" value="mute">Mute</button>`
  const chosen = html`<div class="bar"><label hidden><input type="checkbox" id="every"> All</label> ${buttons}</div>${sections}`
  const all = html`<input type="hidden" name="act" value="all"><input type="hidden" name="read_at" value="${listing.read_at.toISOString()}"><button>Mark everything as read</button>`
  const address = addressOf(listing, { page })
  return html`${form(visit, address, chosen, { class: 'selection' })}
${pager(inbox, Object.fromEntries(new URL(addressOf(listing), 'http://x').searchParams), page, Math.ceil(total / perPage))}
${view === 'unread' && !listing.q && form(visit, address, all, { class: 'more' })}`
}

export const perPage = 50

function emptyText({ view, q, page }: InboxQuery): string {
  if (q) return 'No notification matches the filter.'
  if (page > 1) return 'There are no more notifications.'
  return {
    unread: 'No unread notifications.',
    participating: 'No notifications of threads that you participate in.',
    all: 'No notifications.',
    done: 'No done notifications.',
  }[view]
}

const nameOf = ({ owner_login, name }: RepositoryName) => `${owner_login}/${name}`

const day = 86_400_000

function dayOf(at: Date, now: Date): string {
  const days = Math.floor(now.getTime() / day) - Math.floor(at.getTime() / day)
  return days <= 0 ? 'Today' : days === 1 ? 'Yesterday' : days < 7 ? 'This week' : days < 31 ? 'This month' : 'Older'
}

const kindOf = ({ type }: Thread) => (type === 'PullRequest' ? 'Pull request' : type.replace('Repository', ''))
const anchors = {
  IssueComment: 'issuecomment-',
  PullRequestReview: 'pullrequestreview-',
  PullRequestReviewComment: 'discussion_r',
  CommitComment: 'commitcomment-',
}

function row(thread: Listing['threads'][number], { group }: InboxQuery): Html {
  const { id, repo, number, unread, reason, state, latest_type, latest_id, updated_at } = thread
  const full_name = nameOf(repo)
  const title = titleOf(thread, full_name)
  const { html_url } = addressesOf(thread, { api: '', web: '' }, full_name)
  const anchor = latest_type && latest_id ? `#${anchors[latest_type]}${latest_id}` : ''
  const kind = state && state !== 'open' ? `${kindOf(thread)}, ${state}` : kindOf(thread)
  return html`<li class="thread${unread && ' unread'}" data-id="${id}"><input type="checkbox" name="id" value="${id}.${updated_at.getTime()}" aria-label="Select ${title}">
<div><a class="title" href="${html_url}${anchor}">${title}</a>${unread && html` <span class="mark">unread</span>`}
<p class="muted">${group !== 'repo' && html`${full_name} · `}${kind}${number && ` #${number}`} · <span title="${ruleOf(reason, thread)}">${reasonNameOf(reason, thread)}</span> · ${moment(updated_at)}</p></div></li>`
}

const keys = html`<dialog id="keys" aria-labelledby="keys-title"><h2 class="small" id="keys-title">Keys</h2><table><tbody>
${(
  [
    ['j, k', 'next, previous'],
    ['x', 'select'],
    ['Enter', 'open'],
    ['r', 'mark as read'],
    ['e', 'done'],
    ['m', 'mute'],
    ['z', 'undo'],
    ['/', 'filter'],
    ['?', 'show keys'],
  ] as const
).map(([key, means]) => html`<tr><th scope="row"><kbd>${key}</kbd></th><td>${means}</td></tr>`)}</tbody></table>
<form method="dialog"><button>Close</button></form></dialog><p class="hint muted" id="keys-hint" hidden>Press <kbd>?</kbd> for keys.</p>`
