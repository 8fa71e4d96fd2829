import type { FastifyInstance } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { readRepositories } from '#hosting/repositories/repositories.ts'
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
  const told = visit.flash.data as ActionResult | undefined
  const body = inboxBody(visit, await readListing(visit, queryOf(visit.query)), db.now, told)
  const unread = await countThreads(db, visitor, filters.unread, 1000)
  const assets = ['conversations.css', 'inbox.css', 'inbox.js']
  return { title: unread ? `(${unread}) Notifications` : 'Notifications', body, assets, live: true }
}

async function readListing({ db, visitor }: SignedIn, look: InboxQuery): Promise<Listing> {
  const search = readFilter(look.q)
  const read_at = db.now
  const slice = { limit: perPage, offset: (look.page - 1) * perPage }
  const filter = withSearch(visitor, filters[look.view], search)
  const { rows, total } = await listThreads(db, visitor, filter, slice)
  const repos = await readRepositories(db, visitor.id, [...new Set(rows.map(({ repo_id }) => repo_id))])
  const named = new Map(repos.map((repo) => [repo.id, repo]))
  const threads = rows.flatMap((thread) => {
    const repo = named.get(thread.repo_id)
    return repo ? [{ ...thread, repo }] : []
  })
  return { ...look, threads, total, done: filter.view === 'done', unknown: search.unknown, read_at }
}

/** Redirects to the same view of the inbox, which says what was done. */
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
    return { text: 'It is as it was before.' }
  }
  const shown = form.getAll('id').slice(0, perPage).flatMap(readShown)
  if (!shown.length) return { text: 'Select some of them first.' }
  const done = actIn(wanted)
  const former = await db.transaction((transaction) => actOn(transaction, visitor, shown, done))
  const left = shown.length - former.length
  const text = `${former.length} ${said[done]}.${left ? ` ${left} left as before: there is something new.` : ''}`
  return done === 'undone' || !former.length ? { text } : { text, undo: { act: done, former } }
}

const said: Record<InboxAct, string> = { read: 'marked as read', done: 'done', mute: 'muted', undone: 'back in the inbox' }

function actIn(text: string | null): InboxAct {
  const found = acts.find((known) => known === text)
  if (!found) throw missing()
  return found
}

/** All that was there when the page was made; there may be a million, so there is no way back. */
async function markEverything({ db, visitor, form }: SignedIn): Promise<ActionResult> {
  const read_at = new Date(typed(form, 'read_at'))
  if (Number.isNaN(read_at.getTime()) || read_at > db.now) throw missing()
  const finished = await db.transaction((transaction) => markAllRead(transaction, visitor, { last_read_at: read_at }))
  return { text: finished ? 'Everything is marked as read.' : 'Everything is being marked as read; that takes a moment.' }
}

/** Tells the page that something changed, and how much is unread now; the page then asks for itself again. */
export function mountInboxStream(listener: FastifyInstance, belfry: Belfry) {
  const { db } = belfry
  mountPageStream(listener, belfry, `${inbox}/stream`, async (visitor, _, from) => {
    const { threads, place } = await readChanges(db, visitor, from)
    const unread = threads.length ? await countThreads(db, visitor, filters.unread, 1000) : 0
    return { news: threads.length ? [{ id: place, data: { unread } }] : [], place }
  })
}
