import { Answer, type BaseContext, get, group } from '#http/endpoint.ts'
import { text } from '#http/input.ts'
import { checkResourceOwner, notForToken } from '#http/permissions.ts'
import type { Account, Viewer } from '#identity/accounts.ts'
import type { Caller } from '#identity/callers.ts'
import { allows } from '#identity/permissions.ts'
import type { Database } from '#platform/database.ts'
import { missing, Refusal } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'
import type { Variant } from '#variants.ts'
import type { EventRow } from './event-rows.ts'
import { readEventsAfter } from './events-after.ts'
import { EventSchema, eventJson } from './json.ts'
import { loadRecords } from './records.ts'
import { renderEvents } from './rendered.ts'
import { listFewSources } from './sources.ts'
import { readTimeline, type Timeline, timelines, type View } from './timelines.ts'
import { topicsOf } from './topics.ts'

/** The declaration that all timelines share. */
const declared = {
  permission: 'any',
  viewer: 'optional',
  query: { after: text() },
  list: (variant: Variant) => variant.events.page,
  polled: true,
  replicated: true,
  followed: 'by id',
  answers: { 200: Type.Array(EventSchema) },
} as const

type Context = Pick<BaseContext, 'caller' | 'variant' | 'wire' | 'page' | 'following'> & {
  db: Database
  query: { after: string }
}

/** For timelines that show private events to some callers. */
const withPrivate = { ...declared, optional_scopes: ['repo'] } as const

/** A page, newest first. With `after`, and in a stream: the events after one, oldest first. */
async function show(context: Context, timeline: Timeline, viewer: Viewer | null, delay = 0) {
  const { db, wire, variant, page, query, following } = context
  const view = viewOf(context, viewer, delay)
  if (following !== undefined) {
    const { events, bookmark } = await readEventsAfter(db, timeline, view, following, 100)
    const sources = timeline.sources && (await listFewSources(db, timeline.sources))
    const topics = topicsOf(timeline, view, context.caller, { rows: events, total: 0, ...(sources && { sources }) })
    return new Answer(await toJson(context, events), { bookmark, ...(topics && { topics }) })
  }
  if (query.after !== '') {
    if (!/^\d{1,15}$/.test(query.after)) throw new Refusal('invalid', '`after` must be the id of an event.')
    const { events } = await readEventsAfter(db, timeline, view, query.after, page.size)
    return new Answer((await renderEvents(db, events, wire, variant)) as never, {})
  }
  const found = await readTimeline(db, timeline, view, page)
  const topics = topicsOf(timeline, view, context.caller, found)
  const body = await renderEvents(db, found.rows, wire, variant)
  return new Answer(body as never, { total: found.total, ...(topics && { topics }) })
}

function viewOf({ db, variant }: Context, viewer: Viewer | null, delay: number): View {
  const now = db.now.getTime()
  return { viewer, since: new Date(now - variant.events.days * 86_400_000), until: delay ? new Date(now - delay * 1000) : null }
}

async function toJson({ db, wire, variant }: Context, events: EventRow[]) {
  return (await loadRecords(db, events)).map((record) => eventJson(record, wire, variant))
}

/** Only the user sees their own private events. A fine-grained token needs the `Events` permission. */
function ownViewer(caller: Caller, user: Account): Viewer | null {
  if (caller.user?.id !== user.id) return null
  return caller.token?.kind === 'fine_grained' && !allows(caller.token.permissions, 'events:read') ? null : caller
}

/** Everyone but that member gets 404. A fine-grained token needs the organization's `Events` permission. */
function checkDashboard(caller: Caller, user: Account, org: { id: number; role: string | null }) {
  if (caller.user?.id !== user.id || !org.role) throw missing()
  checkResourceOwner(caller, org)
  if (caller.token?.kind === 'fine_grained' && !allows(caller.token.permissions, 'organization_events:read')) throw notForToken()
}

export const api = group('Event timelines', [
  get(
    '/events',
    {
      ...declared,
      operation: 'activity/list-public-events',
      summary: 'Public events, with a delay',
      list: (variant: Variant) => variant.events.public_page,
    },
    (context) => show(context, timelines.everyone(), null, context.variant.events.public_delay),
  ),
  get(
    '/networks/{owner}/{repo}/events',
    {
      ...declared,
      operation: 'activity/list-public-events-for-repo-network',
      summary: 'Public events of a repository and its forks',
    },
    (context) => show(context, timelines.network(context.repo), null),
  ),
  get(
    '/orgs/{org}/events',
    { ...declared, operation: 'activity/list-public-org-events', summary: 'Public events of an organization' },
    (context) => show(context, timelines.organization(context.org), null),
  ),
  get(
    '/repos/{owner}/{repo}/events',
    { ...withPrivate, operation: 'activity/list-repo-events', permission: 'metadata:read', summary: 'Events of a repository' },
    (context) => show(context, timelines.repository(context.repo), context.caller),
  ),
  get(
    '/users/{username}/events',
    {
      ...withPrivate,
      operation: 'activity/list-events-for-authenticated-user',
      summary: 'Events by a user; private ones for that user only',
    },
    (context) => show(context, timelines.actor(context.user), ownViewer(context.caller, context.user)),
  ),
  get(
    '/users/{username}/events/orgs/{org}',
    {
      ...withPrivate,
      operation: 'activity/list-org-events-for-authenticated-user',
      permission: 'organization_events:read',
      summary: 'A member’s dashboard of an organization, for that member only',
    },
    (context) => {
      checkDashboard(context.caller, context.user, context.org)
      return show(context, timelines.organization(context.org), context.caller)
    },
  ),
  get(
    '/users/{username}/events/public',
    { ...declared, operation: 'activity/list-public-events-for-user', summary: 'Public events by a user' },
    (context) => show(context, timelines.actor(context.user), null),
  ),
  get(
    '/users/{username}/received_events',
    {
      ...withPrivate,
      operation: 'activity/list-received-events-for-user',
      summary: 'Events of the repositories a user watches and by the people they follow; private ones for that user only',
    },
    (context) => show(context, timelines.received(context.user), ownViewer(context.caller, context.user)),
  ),
  get(
    '/users/{username}/received_events/public',
    {
      ...declared,
      operation: 'activity/list-received-public-events-for-user',
      summary: 'Public events of the repositories a user watches and by the people they follow',
    },
    (context) => show(context, timelines.received(context.user), null),
  ),
])
