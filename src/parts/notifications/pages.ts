import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { pageIn } from '#hosting/repositories/views/repository-page.ts'
import {
  type ActionResult,
  type InboxQuery,
  inbox,
  inboxBody,
  type Listing,
  perPage,
  readFormer,
  readShown,
  type View,
  views,
} from '#parts/notifications/views/inbox.ts'
import { missing } from '#platform/errors.ts'
import { typed } from '#web/fields.ts'
import { type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { mountPageStream } from '#web/page-stream.ts'
import { longestFilter, readFilter, withSearch } from './filters.ts'
import { actOn, acts, type InboxAct, undo } from './inbox-actions.ts'
import { markAllRead } from './mark-read.ts'
import { countThreads, type Filter, listThreads, readChanges } from './threads.ts'

export const assets = join(import.meta.dirname, 'assets')

export const pages: PageRoute[] = [showOwn(inbox, inboxPage), submitOwn(inbox, act)]

const filters: Record<View, Filter> = {
  unread: { view: 'unread' },
  participating: { view: 'inbox', participating: true },
  all: { view: 'inbox' },
  done: { view: 'done' },
}

function queryOf(query: URLSearchParams): InboxQuery {
  const view = query.get('view') ?? ''
  return {
    view: view in views ? (view as View) : 'unread',
    group: query.get('group') === 'repo' ? 'repo' : 'time',
    q: typed(query, 'q').slice(0, longestFilter),
    page: pageIn(query),
  }
}

async function inboxPage(visit: SignedIn): Promise<Outcome> {
  const { db, visitor } = visit
  const result = visit.flash.data as ActionResult | undefined
  const body = inboxBody(visit, await readListing(visit, queryOf(visit.query)), db.now, result)
  const unread = await countThreads(db, visitor, filters.unread, 1000)
  return {
    title: unread ? `(${unread}) Notifications` : 'Notifications',
    body,
  }
}

async function readListing({ db, visitor }: SignedIn, query: InboxQuery): Promise<Listing> {
  const search = readFilter(query.q)
  const read_at = db.now
  const slice = { limit: perPage, offset: (query.page - 1) * perPage }
  const filter = withSearch(visitor, filters[query.view], search)
  const { rows: threads, total } = await listThreads(db, visitor, filter, slice)
  return { ...query, threads, total, done: filter.view === 'done', unknown: search.unknown, read_at }
}

/** Redirects to the same view of the inbox, which shows the result. */
async function act(visit: SignedIn): Promise<Outcome> {
  return { to: visit.request.url, flash: { data: await change(visit) } }
}

async function change(visit: SignedIn): Promise<ActionResult> {
  const { db, visitor, form } = visit
  const wanted = form.get('act') ?? ''
  if (wanted === 'all') return markEverything(visit)
  if (wanted === 'undo') {
    const former = form.getAll('former').slice(0, perPage).flatMap(readFormer)
    await db.transaction((transaction) => undo(transaction, visitor, actIn(form.get('undone')), former))
    return { text: 'Undone.' }
  }
  const shown = form.getAll('id').slice(0, perPage).flatMap(readShown)
  if (!shown.length) return { text: 'Select at least one thread first.' }
  const done = actIn(wanted)
  const former = await db.transaction((transaction) => actOn(transaction, visitor, shown, done))
  const left = shown.length - former.length
  const text = `${former.length} ${resultTexts[done]}.${left ? ` ${left} not changed, because of new activity.` : ''}`
  return done === 'undone' || !former.length ? { text } : { text, undo: { act: done, former } }
}

const resultTexts: Record<InboxAct, string> = { read: 'marked as read', done: 'done', mute: 'muted', undone: 'back in the inbox' }

function actIn(text: string | null): InboxAct {
  const found = acts.find((known) => known === text)
  if (!found) throw missing()
  return found
}

/** Marks everything that was there when the page was rendered. There may be a million threads, so there is no undo. */
async function markEverything({ db, visitor, form }: SignedIn): Promise<ActionResult> {
  const read_at = new Date(typed(form, 'read_at'))
  if (Number.isNaN(read_at.getTime()) || read_at > db.now) throw missing()
  const finished = await db.transaction((transaction) => markAllRead(transaction, visitor, { last_read_at: read_at }))
  return { text: finished ? 'Everything is marked as read.' : 'Everything is being marked as read in the background.' }
}

/** Notifies the page of changes and of the unread count; the page then reloads itself. */
export function mountInboxStream(listener: FastifyInstance, belfry: Belfry) {
  const { db } = belfry
  mountPageStream(listener, belfry, `${inbox}/stream`, async (visitor, _, from) => {
    const { threads, bookmark } = await readChanges(db, visitor, from)
    const unread = threads.length ? await countThreads(db, visitor, filters.unread, 1000) : 0
    return { news: threads.length ? [{ id: bookmark, data: { unread } }] : [], bookmark }
  })
}
