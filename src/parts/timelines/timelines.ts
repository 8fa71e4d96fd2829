import type { Account } from '#identity/accounts.ts'
import { type Database, empty, type Sql, sql } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import type { Listed, Slice } from '#platform/listed.ts'
import { ofDatabase } from '#platform/of-database.ts'
import type { Topic } from '#platform/topics.ts'
import { mostEvents } from '#variants.ts'
import { type EventRow, literal, newestFirst, withNames } from './event-rows.ts'
import { type Fixed, isInView, isShown, type View } from './shown.ts'
import { bySource, type EventQuery, listSourceIds, readBySource, type SourceIds, type Sources } from './sources.ts'

export type { TimelineEvent } from './event-rows.ts'
export type { View } from './shown.ts'

export interface Timeline {
  /** Changes with new events of its subject, or with what it is made of. Undefined: with any event. */
  topic?: Topic
  /** Selects the events, with the event as `e`. */
  condition: Sql
  /** The repository or the actor of all its events. */
  fixed?: Fixed
  /** If there are many repositories or actors. */
  sources?: Sources
}

/** Evaluated per row: with `exists`, the planner reads the viewer's whole watch list first. */
const watches = (user: Account) =>
  sql`coalesce((select not s.ignored from subscriptions s where s.user_id = ${user.id} and s.repo_id = e.repo_id), false)`
const follows = (user: Account) =>
  sql`coalesce((select true from follows f where f.follower_id = ${user.id} and f.followed_id = e.actor_id), false)`

export const timelines = {
  everyone: (): Timeline => ({ condition: sql`true` }),
  repository: ({ id }: { id: number }): Timeline => ({
    topic: `r${id}`,
    condition: sql`e.repo_id = ${id}`,
    fixed: { repo_id: id },
  }),
  actor: ({ id }: Account): Timeline => ({ topic: `u${id}`, condition: sql`e.actor_id = ${id}`, fixed: { actor_id: id } }),
  network: (repo: { network_id: number }): Timeline => ({
    topic: `n${repo.network_id}`,
    condition: sql`(select r.network_id from repositories r where r.id = e.repo_id) = ${repo.network_id}`,
    sources: { repositories: sql`select id from repositories where network_id = ${repo.network_id}` },
  }),
  organization: (org: Account): Timeline => ({
    topic: `o${org.id}`,
    condition: sql`(select r.owner_id from repositories r where r.id = e.repo_id) = ${org.id}`,
    sources: { repositories: sql`select id from repositories where owner_id = ${org.id}` },
  }),
  /** Events of the repositories that a user watches, and by the people they follow. */
  received: (user: Account): Timeline => ({
    topic: `s${user.id}`,
    condition: sql`(${watches(user)} or ${follows(user)})`,
    sources: {
      repositories: sql`select repo_id as id from subscriptions where user_id = ${user.id} and not ignored`,
      actors: sql`select followed_id as id from follows where follower_id = ${user.id}`,
      actors_except: sql`not ${watches(user)}`,
    },
  }),
  /** The first half of what a user receives. */
  watched: (user: Account): Timeline => ({
    topic: `s${user.id}`,
    condition: watches(user),
    sources: { repositories: sql`select repo_id as id from subscriptions where user_id = ${user.id} and not ignored` },
  }),
  /** The other half, with what those people do in watched repositories. */
  followed: (user: Account): Timeline => ({
    topic: `s${user.id}`,
    condition: follows(user),
    sources: {
      repositories: sql`select null::bigint as id where false`,
      actors: sql`select followed_id as id from follows where follower_id = ${user.id}`,
    },
  }),
}

export interface TimelinePage extends Listed<EventRow> {
  /** What the timeline was made of, unless that is too much. */
  sources?: SourceIds
}

/** A page of a timeline, newest first, and the number of its events, at most `mostEvents`. */
export async function readTimeline(db: Database, timeline: Timeline, view: View, slice: Slice): Promise<TimelinePage> {
  if (slice.offset >= mostEvents) throw tooFar()
  const page = { offset: slice.offset, limit: Math.min(slice.limit, mostEvents - slice.offset) }
  const asked = lengths.find((length) => length >= page.offset + page.limit) ?? mostEvents
  const { sources } = timeline
  if (!sources) return readFiltered(db, timeline, view, page, asked)
  const { many, exact, all_read, found, rows, ids } = await readBySource(db, sources, view, asked, page)
  if (many) return readManySources(db, { ...timeline, sources }, view, page, asked)
  const events = bySource(ids, sources, view)
  if (!exact) return { ...(await readEachSource(db, events, page, asked)), sources: ids }
  if (all_read || found >= mostEvents) return { rows, total: Math.min(found, mostEvents), sources: ids }
  return { rows, total: await countEvents(db, events(mostEvents, 'any')), sources: ids }
}

/** Only a few lengths are used, because each is a prepared statement of its own. */
const lengths = [30, 100, mostEvents]

const tooFar = () =>
  new Refusal('invalid', 'In order to keep the API fast for everyone, pagination is limited for this resource.')

/** A timeline whose events are read along one index, until enough of them are visible. */
async function readFiltered(db: Database, timeline: Timeline, view: View, page: Slice, asked: number) {
  const { condition, fixed } = timeline
  const only_public = view.viewer ? empty : sql`and e.public`
  // The inner query is not merged with the outer one, which would repeat the conditions for each month.
  const events = (most: number) => sql`
    select e.* from (select e.* from events e where ${condition} and ${isInView(view)} ${only_public} ${newestFirst} offset 0) e
    where ${isShown(view, fixed)} ${newestFirst} limit ${literal(most)}`
  if (fixed) {
    const { rows, found } = await readPage(db, events(mostEvents), page)
    return { rows, total: found }
  }
  // The timeline of everyone changes all the time, so its pages are read often.
  const { rows, found } = await readPage(db, events(asked), page)
  return { rows, total: found < asked ? found : await countRarely(db, events(mostEvents)) }
}

/** A page of a query, and the number of events of the query. */
async function readPage(db: Database, events: Sql, { limit, offset }: Slice) {
  const rows = await db.genericPlanRows<EventRow & { found: number }>(sql`
    with shown as materialized (${events})
    select t.found, e.* from (select count(*) as found from shown) t left join (
      ${withNames(sql`select * from shown e ${newestFirst} limit ${limit} offset ${offset}`)}) e on true ${newestFirst}`)
  return { rows: rows[0]?.id === null ? [] : rows, found: rows[0]?.found ?? 0 }
}

const recentEvents = 5000

/**
 * For a user who watches 5,000 repositories, a page is among the last few hundred events of the server. Many sources are read one by one only
 * if the recent events do not fill a page.
 */
async function readManySources(
  db: Database,
  { condition, sources }: Timeline & { sources: Sources },
  view: View,
  page: Slice,
  asked: number,
) {
  const only_public = view.viewer ? empty : sql`and e.public`
  // `offset 0`: most events are of other sources, so the actor and the repository of an event are looked up after its source.
  const filtered = (most: number, recent: number | null) => sql`
    select e.* from (
      select e.* from (
        select e.* from events e where ${isInView(view)} ${only_public} ${newestFirst}
        ${recent ? sql`limit ${literal(recent)}` : sql`offset 0`}) e
      where ${condition} offset 0) e
    where ${isShown(view)} ${newestFirst} limit ${literal(most)}`
  const { rows, found } = await readPage(db, filtered(asked, recentEvents), page)
  if (found < asked) return readEachSource(db, bySource(await listSourceIds(db, sources), sources, view), page, asked)
  return { rows, total: await countRarely(db, filtered(mostEvents, null)) }
}

async function readEachSource(db: Database, events: EventQuery, page: Slice, asked: number) {
  const { rows, found } = await readPage(db, events(asked, 'newest'), page)
  return { rows, total: found < asked ? found : await countEvents(db, events(mostEvents, 'any')) }
}

/** Counts the events of a query, which returns at most `mostEvents`. */
async function countEvents(db: Database, events: Sql): Promise<number> {
  const [counted] = await db.genericPlanRows<{ total: number }>(sql`select count(*) as total from (${events}) counted`)
  return counted?.total ?? 0
}

/** For how long a timeline of the greatest length is not counted again. In milliseconds. */
const trusted = 60_000
const mostKept = 10_000

/** When each timeline was last found to have the greatest length. */
const fullTimelines = ofDatabase(() => new Map<string, number>())

/**
 * For timelines of so many sources that their responses are not kept, see topics.ts. They rarely become shorter, and counting 300 events takes
 * three times as long as reading 30. If one does become shorter, the link to the last page is wrong for up to a minute.
 */
async function countRarely(db: Database, events: Sql): Promise<number> {
  const known = fullTimelines(db)
  // Dates differ from request to request, and do not identify a timeline.
  const key = `${events.text} ${events.values.filter((value) => !(value instanceof Date))}`
  const now = db.now.getTime()
  if (Math.abs(now - (known.get(key) ?? 0)) < trusted) return mostEvents
  const total = await countEvents(db, events)
  if (known.size >= mostKept) known.clear()
  if (total === mostEvents) known.set(key, now)
  return total
}
