import type { Person } from '#identity/accounts.ts'
import type { Former, InboxAct, Shown } from '#parts/notifications/inbox-actions.ts'
import type { SavedFilter } from '#parts/notifications/saved-filters.ts'
import type { Thread, UnreadCount } from '#parts/notifications/threads.ts'
import type { Html } from '#web/html.ts'

export const inbox = '/notifications'
export const perPage = 50

export const views = {
  unread: 'Unread',
  participating: 'Participating',
  all: 'All',
  saved: 'Saved',
  done: 'Done',
  snoozed: 'Snoozed',
} as const
export type View = keyof typeof views

export const groups = { time: 'Time', repo: 'Repository', reason: 'Reason' } as const

/** The query parameters of the page. */
export interface InboxQuery {
  view: View
  group: keyof typeof groups
  q: string
  page: number
  /** The thread in the reading pane. */
  thread: number | null
}

export interface Listing extends InboxQuery {
  threads: Thread[]
  /** Who acted last in each thread. */
  actors: Map<number, Person[]>
  total: number
  /** The list has done or snoozed threads: by the view, `is:done` or `is:snoozed`. */
  list: 'done' | 'snoozed' | undefined
  unknown: string[]
  /** When the list was read. Updates after this are not marked as read. */
  read_at: Date
  unread: number
  filters: SavedFilter[]
  /** How many unread threads each filter matches. */
  counts: (number | undefined)[]
  repositories: UnreadCount[]
  /** Undefined if the visitor has none. */
  invitations: Html | undefined
  pane: Html | undefined
}

/** The result of an action, and how to undo it. */
export interface ActionResult {
  text: string
  failed?: boolean
  undo?: { act: InboxAct; former: Former[] }
  /** Everything was marked as read by the transaction at this position. */
  undo_all?: number
  /** A filter was deleted. */
  undo_filter?: SavedFilter
}

export function addressOf(look: InboxQuery, change: Partial<InboxQuery> = {}): string {
  const { view, group, q, page, thread } = { ...look, page: 1, thread: null, ...change }
  const query = {
    ...(view !== 'unread' && { view }),
    ...(group !== 'time' && { group }),
    ...(q && { q }),
    ...(page > 1 && { page: String(page) }),
    ...(thread !== null && { thread: String(thread) }),
  }
  const text = new URLSearchParams(query).toString()
  return text ? `${inbox}?${text}` : inbox
}

export const viewIn = (text: string): View => (Object.hasOwn(views, text) ? (text as View) : 'unread')

/** The value of a row's checkbox. */
export const writeShown = ({ id, updated_at }: Shown) => `${id}.${updated_at.getTime()}`

export function readShown(text: string): Shown[] {
  const [, id, time] = /^(\d{1,15})\.(\d{1,14})$/.exec(text) ?? []
  return id === undefined ? [] : [{ id: Number(id), updated_at: new Date(Number(time)) }]
}

export const writeFormer = ({ id, updated_at, unread, done, saved, snoozed_until, state }: Former) =>
  [
    id,
    new Date(updated_at).getTime(),
    unread ? 'unread' : 'read',
    done ? 'done' : 'inbox',
    saved ? 'saved' : 'plain',
    snoozed_until ? new Date(snoozed_until).getTime() : 0,
    state ?? 'none',
  ].join('.')

const formerPattern =
  /^(\d{1,15})\.(\d{1,13})\.(unread|read)\.(done|inbox)\.(saved|plain)\.(\d{1,13})\.(subscribed|muted|ignored|none)$/

/** Parses the hidden field of the undo form. Invalid values are ignored. */
export function readFormer(text: string): Former[] {
  const [, id, updated, unread, done, saved, snoozed, state] = formerPattern.exec(text) ?? []
  if (id === undefined) return []
  return [
    {
      id: Number(id),
      updated_at: new Date(Number(updated)),
      unread: unread === 'unread',
      done: done === 'done',
      saved: saved === 'saved',
      snoozed_until: snoozed === '0' ? null : new Date(Number(snoozed)),
      state: state === 'none' ? null : (state as Former['state']),
    },
  ]
}
