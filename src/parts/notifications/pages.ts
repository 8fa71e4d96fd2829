import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { openInvitations } from '#hosting/people/views/open-invitations.ts'
import { pageIn } from '#hosting/repositories/views/repository-page.ts'
import { inboxBody } from '#parts/notifications/views/inbox.ts'
import {
  type ActionResult,
  addressOf,
  groups,
  type InboxQuery,
  inbox,
  type Listing,
  perPage,
  readFormer,
  readShown,
  type View,
  viewIn,
} from '#parts/notifications/views/inbox-query.ts'
import { readingPane } from '#parts/notifications/views/reading-pane.ts'
import { markShown } from '#parts/notifications/views/thread-subscription.ts'
import { sql } from '#platform/database.ts'
import { missing, Refusal } from '#platform/errors.ts'
import { sentence, typed } from '#web/fields.ts'
import { type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { mountPageStream } from '#web/page-stream.ts'
import { changeFilters } from './filter-forms.ts'
import { longestFilter, readFilter, withSearch } from './filters.ts'
import { actOn, acts, type InboxAct, undo } from './inbox-actions.ts'
import { markAllRead, unmarkAll } from './mark-read.ts'
import { listActors } from './reasons.ts'
import { countByFilter, listFilters } from './saved-filters.ts'
import { snoozeChoices, snoozeEnd } from './snooze.ts'
import { countThreads, type Filter, listThreads, loadThread, readChanges, type Thread } from './threads.ts'

export const assets = join(import.meta.dirname, 'assets')

export const pages: PageRoute[] = [
  showOwn(inbox, inboxPage),
  submitOwn(inbox, act),
  submitOwn(`${inbox}/filters`, (visit) => refusable(visit, typed(visit.form, 'back'), changeFilters)),
]

const filters: Record<View, Filter> = {
  unread: { view: 'unread' },
  participating: { view: 'inbox', participating: true },
  all: { view: 'inbox' },
  saved: { view: 'saved' },
  done: { view: 'done' },
  snoozed: { view: 'snoozed' },
}

function queryOf(query: URLSearchParams): InboxQuery {
  const group = query.get('group') ?? ''
  const thread = query.get('thread') ?? ''
  return {
    view: viewIn(query.get('view') ?? ''),
    group: Object.hasOwn(groups, group) ? (group as InboxQuery['group']) : 'time',
    q: typed(query, 'q').slice(0, longestFilter),
    page: pageIn(query),
    thread: /^\d{1,15}$/.test(thread) ? Number(thread) : null,
  }
}

async function inboxPage(visit: SignedIn): Promise<Outcome> {
  const { data, done } = visit.flash
  const result = done === undefined ? (data as ActionResult | undefined) : { text: done }
  const listing = await readListing(visit, queryOf(visit.query))
  const { unread } = listing
  return {
    title: unread ? `(${unread}) Notifications` : 'Notifications',
    body: inboxBody(visit, listing, visit.db.now, result),
  }
}

async function readListing(visit: SignedIn, query: InboxQuery): Promise<Listing> {
  const { db, visitor } = visit
  const search = readFilter(query.q)
  const opened = query.thread === null ? undefined : await openThread(visit, query.thread)
  const read_at = db.now
  const slice = { limit: perPage, offset: (query.page - 1) * perPage }
  const filter = withSearch(visitor, filters[query.view], search)
  const { rows, total } = await listThreads(db, visitor, filter, slice)
  const threads = query.view === 'unread' && opened && !opened.done ? withThread(rows, opened) : rows
  const saved = await listFilters(db, visitor)
  return {
    ...query,
    thread: opened?.id ?? null,
    threads,
    actors: await listActors(db, threads),
    total,
    list: filter.view === 'done' || filter.view === 'snoozed' ? filter.view : undefined,
    unknown: search.unknown,
    read_at,
    unread: await countThreads(db, visitor, filters.unread, 1000),
    filters: saved,
    ...(await countByFilter(db, visitor, saved)),
    invitations: await openInvitations(visit, addressOf(query, { page: query.page })),
    pane: opened && (await readingPane(visit, opened, query)),
  }
}

/** The thread of the reading pane, which is read now; undefined if the user does not see it, or no longer does. */
async function openThread(visit: SignedIn, id: number): Promise<Thread | undefined> {
  try {
    const { subject_id } = await loadThread(visit.db, visit.visitor, id)
    await markShown(visit, sql`s.id = ${subject_id}`)
    return await loadThread(visit.db, visit.visitor, id)
  } catch (error) {
    if (error instanceof Refusal && error.reason === 'missing') return undefined
    throw error
  }
}

/** A thread stays in the list of unread ones while it is in the reading pane. */
function withThread(threads: Thread[], opened: Thread): Thread[] {
  if (threads.some(({ id }) => id === opened.id)) return threads
  return [...threads, opened].toSorted((one, other) => other.updated_at.getTime() - one.updated_at.getTime() || other.id - one.id)
}

/** Redirects to the same view of the inbox, which shows the result. */
function act(visit: SignedIn) {
  return refusable(visit, visit.request.url, change)
}

/** What was refused is shown by the page that had the form. */
async function refusable(visit: SignedIn, to: string, work: (visit: SignedIn) => Promise<ActionResult>): Promise<Outcome> {
  const back = to === inbox || to.startsWith(`${inbox}?`) ? to : inbox
  try {
    return { to: back, flash: { data: await work(visit) } }
  } catch (error) {
    if (!(error instanceof Refusal && error.reason === 'invalid')) throw error
    const text = sentence(error.faults?.[0]?.message ?? error.message)
    return { to: back, flash: { data: { text, failed: true } satisfies ActionResult } }
  }
}

async function change(visit: SignedIn): Promise<ActionResult> {
  const { db, visitor, form } = visit
  const [own = '', only] = (form.get('one') ?? '').split(' ')
  const wanted = own || (form.get('act') ?? '')
  if (wanted === 'all') return markEverything(visit)
  if (wanted === 'undo') return takeBack(visit)
  const shown = (only === undefined ? form.getAll('id') : [only]).slice(0, perPage).flatMap(readShown)
  if (!shown.length) return { text: 'Select at least one thread first.', failed: true }
  const until = wanted.startsWith('snooze-') ? untilOf(visit, wanted.slice('snooze-'.length)) : undefined
  const done = until ? 'snooze' : actIn(wanted)
  if (done === 'snooze' && !until) throw missing()
  const former = await db.transaction((transaction) => actOn(transaction, visitor, shown, until ? { until } : (done as Simple)))
  const left = shown.length - former.length
  const text = `${former.length} ${resultTexts[done]}.${left ? ` ${left} not changed, because of new activity.` : ''}`
  return former.length ? { text, undo: { act: done, former } } : { text, failed: true }
}

type Simple = Exclude<InboxAct, 'snooze'>

async function takeBack({ db, visitor, form }: SignedIn): Promise<ActionResult> {
  const position = form.get('position') ?? ''
  if (/^\d{1,16}$/.test(position)) await db.transaction((transaction) => unmarkAll(transaction, visitor, Number(position)))
  else {
    const former = form.getAll('former').slice(0, perPage).flatMap(readFormer)
    await db.transaction((transaction) => undo(transaction, visitor, actIn(form.get('undone')), former))
  }
  return { text: 'Undone.' }
}

function untilOf({ db, form }: SignedIn, text: string): Date {
  const choice = snoozeChoices.find((known) => known === text)
  if (!choice) throw missing()
  const offset = /^-?\d{1,3}$/.test(form.get('offset') ?? '') ? Number(form.get('offset')) : 0
  return snoozeEnd({ choice, date: form.get('date'), offset }, db.now)
}

const resultTexts: Record<InboxAct, string> = {
  read: 'marked as read',
  unread: 'marked as unread',
  done: 'done',
  mute: 'muted',
  undone: 'back in the inbox',
  save: 'saved',
  unsave: 'no longer saved',
  snooze: 'snoozed',
}

function actIn(text: string | null): InboxAct {
  const found = acts.find((known) => known === text)
  if (!found) throw missing()
  return found
}

/** Marks everything that was there when the page was rendered. There may be a million threads: what takes a job has no undo. */
async function markEverything({ db, visitor, form }: SignedIn): Promise<ActionResult> {
  const read_at = new Date(typed(form, 'read_at'))
  if (Number.isNaN(read_at.getTime()) || read_at > db.now) throw missing()
  return db.transaction(async (transaction) => {
    const finished = await markAllRead(transaction, visitor, { last_read_at: read_at })
    if (!finished) return { text: 'Everything is being marked as read in the background.' }
    const { position } = await transaction.load<{ position: number }>(sql`select log_position() as position`)
    return { text: 'Everything is marked as read.', undo_all: position }
  })
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
