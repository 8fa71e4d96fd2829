import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { openInvitations } from '#hosting/people/views/open-invitations.ts'
import { pageIn } from '#hosting/repositories/views/repository-page.ts'
import { eventsPerPage, loadActivity, viewFor } from '#parts/timelines/activity.ts'
import { readEventsAfter } from '#parts/timelines/events-after.ts'
import { timelines } from '#parts/timelines/timelines.ts'
import { mostEvents, selfHosted } from '#variants.ts'
import { typed } from '#web/fields.ts'
import { type Outcome, type PageRoute, type SignedIn, show, type Visit } from '#web/page.ts'
import { betweenLooks, mountPageStream } from '#web/page-stream.ts'
import { readChoice, timelineOf, typesOf } from './feed-choice.ts'
import { readOverview } from './overview.ts'
import { dashboard } from './views/dashboard.ts'
import { welcome } from './views/welcome.ts'

export const assets = join(import.meta.dirname, 'assets')

export const pages: PageRoute[] = [show('/', (visit) => (visit.visitor ? ownHome(visit as SignedIn) : publicHome(visit)))]

const publicEvents = 15

/** Public events appear as late as in the API. */
async function publicHome(visit: Visit): Promise<Outcome> {
  const { db, belfry } = visit
  const delay = belfry.settings.BELFRY_PUBLIC_EVENTS_DELAY ?? selfHosted.events.public_delay
  const until = delay ? new Date(db.now.getTime() - delay * 1000) : null
  const { events } = await loadActivity(db, timelines.everyone(), null, { limit: publicEvents, until })
  return welcome(visit, events)
}

async function ownHome(visit: SignedIn): Promise<Outcome> {
  const { db, visitor, query } = visit
  const choice = readChoice(query)
  const page = Math.min(pageIn(query), mostEvents / eventsPerPage)
  const until = untilIn(query, db.now)
  const find = typed(query, 'find').slice(0, 140)
  const [activity, overview, invitations] = await Promise.all([
    readFeed(visit, choice, { until: page > 1 ? until : null, offset: (page - 1) * eventsPerPage }),
    readOverview(db, visitor, find),
    openInvitations(visit, '/'),
  ])
  const more = activity !== undefined && page * eventsPerPage < Math.min(activity.total, mostEvents)
  return dashboard(visit, { choice, activity, until, page, more, overview, invitations, find })
}

async function readFeed(
  { db, visitor }: SignedIn,
  choice: ReturnType<typeof readChoice>,
  slice: { until: Date | null; offset: number },
) {
  const timeline = await timelineOf(db, visitor, choice)
  const types = typesOf(choice)
  return timeline && loadActivity(db, timeline, viewerOf(visitor), { ...slice, ...(types.length && { types }) })
}

const viewerOf = ({ id }: { id: number }) => ({ viewer_id: id, sees_private: true })

/** Pages after the first show what was there when the first was shown. */
function untilIn(query: URLSearchParams, now: Date): Date {
  const asked = /^\d{1,14}$/.exec(query.get('until') ?? '')?.[0]
  return asked === undefined ? now : new Date(Math.min(Number(asked), now.getTime()))
}

/** Notifies the page of new events of the visitor's timeline; the page then loads itself again, with the same filters. */
export function mountHomeStream(listener: FastifyInstance, belfry: Belfry) {
  const { db } = belfry
  const look = async (visitor: SignedIn['visitor'], _: Record<string, string>, from: string | null) => {
    const timeline = timelines.received(visitor)
    const { events, bookmark } = await readEventsAfter(db, timeline, viewFor(db, viewerOf(visitor)), from, 100)
    return { news: events.length ? [{ id: bookmark, data: { events: events.length } }] : [], bookmark }
  }
  mountPageStream(listener, belfry, '/timeline/stream', look, betweenLooks)
}
