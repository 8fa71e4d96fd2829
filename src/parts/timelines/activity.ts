import type { Viewer } from '#identity/accounts.ts'
import type { Database } from '#platform/database.ts'
import type { Slice } from '#platform/listed.ts'
import { mostEvents, selfHosted } from '#variants.ts'
import { type EventRecord, loadRecords } from './records.ts'
import type { View } from './shown.ts'
import { readTimeline, type Timeline } from './timelines.ts'

/** A part of a timeline for a page, newest first. */
export interface Activity {
  events: EventRecord[]
  /** How many events the whole timeline has; at most 300. */
  total: number
}

interface Choice extends Partial<Slice> {
  /** Newer events are not shown: the pages of a list then fit together, whatever happens meanwhile. */
  until?: Date | null
  /** Only events of these types. */
  types?: string[]
}

export const eventsPerPage = 30

/** The events of a timeline as the viewer may see them; null: only public events. `timelines` has the timelines that exist. */
export async function loadActivity(
  db: Database,
  timeline: Timeline,
  viewer: Viewer | null,
  { limit = eventsPerPage, offset = 0, until = null, types }: Choice = {},
): Promise<Activity> {
  if (offset >= mostEvents) return { events: [], total: mostEvents }
  const view = { ...viewFor(db, viewer), until, ...(types && { types }) }
  const { rows, total } = await readTimeline(db, timeline, view, { limit, offset })
  return { events: await loadRecords(db, rows), total }
}

/** Pages show events for as long as the self-hosted API does. */
export function viewFor(db: Database, viewer: Viewer | null): View {
  return { viewer, since: new Date(db.now.getTime() - selfHosted.events.days * 86_400_000), until: null }
}
