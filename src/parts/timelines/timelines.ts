import type { LoggedEvent } from '#activity/acts.ts'
import { hasAccessByName } from '#hosting/repositories/visibility.ts'
import type { Account, Viewer } from '#identity/accounts.ts'
import { type Database, empty, type Listed, raw, type Slice, type Sql, sql } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { mostEvents } from '#variants.ts'
import type { Facts } from './facts.ts'

/** An event of the log, with the current names of its actor and its repository. */
export type TimelineEvent = LoggedEvent & {
  id: number
  facts: Facts | null
  public: boolean
  created_at: Date
  actor_id: number
  actor_login: string
  repo_id: number
  repo_name: string
  repo_private: boolean
  owner_id: number
  owner_login: string
  owner_type: Account['type']
  owner_site_admin: boolean
}

export interface Timeline {
  /** Selects the events, with the event as `e` and its repository as `r`. */
  condition: Sql
  /** The repositories and actors whose events make up the timeline, if there are many. Each event comes from one source only. */
  sources?: { repositories: Sql; actors?: Sql; actors_except?: Sql }
}

/** Evaluated per row: with `exists`, the planner reads the viewer's whole watch list first. */
const watches = (user: Account) =>
  sql`coalesce((select not s.ignored from subscriptions s where s.user_id = ${user.id} and s.repo_id = e.repo_id), false)`
const follows = (user: Account) =>
  sql`coalesce((select true from follows f where f.follower_id = ${user.id} and f.followed_id = e.actor_id), false)`

export const timelines = {
  everyone: (): Timeline => ({ condition: sql`true` }),
  repository: (repo: { id: number }): Timeline => ({ condition: sql`e.repo_id = ${repo.id}` }),
  actor: (user: Account): Timeline => ({ condition: sql`e.actor_id = ${user.id}` }),
  network: (repo: { network_id: number }): Timeline => ({
    condition: sql`r.network_id = ${repo.network_id}`,
    sources: { repositories: sql`select id from repositories where network_id = ${repo.network_id}` },
  }),
  organization: (org: Account): Timeline => ({
    condition: sql`r.owner_id = ${org.id}`,
    sources: { repositories: sql`select id from repositories where owner_id = ${org.id}` },
  }),
  /** Events of the repositories that a user watches, and by the people they follow. */
  received: (user: Account): Timeline => ({
    condition: sql`(${watches(user)} or ${follows(user)})`,
    sources: {
      repositories: sql`select repo_id as id from subscriptions where user_id = ${user.id} and not ignored`,
      actors: sql`select followed_id as id from follows where follower_id = ${user.id}`,
      actors_except: sql`not ${watches(user)}`,
    },
  }),
}

export interface View {
  /** The viewer whose private events are shown; null: only public events. */
  viewer: Viewer | null
  since: Date
  /** Newer events are not shown yet; null: no delay. */
  until: Date | null
}

/** Adds the names of actors and repositories to a query of events. */
export const withNames = (events: Sql) => sql`
  select e.id, e.position, e.type, e.payload, e.facts, e.public and not r.private as public, e.created_at, e.actor_id, a.login as actor_login,
    e.repo_id, r.name as repo_name, r.private as repo_private, r.owner_id, o.login as owner_login, o.type as owner_type,
    o.site_admin as owner_site_admin
  from (${events}) e join repositories r on r.id = e.repo_id join accounts a on a.id = e.actor_id join accounts o on o.id = r.owner_id`

/** The joins that `isShown` needs. */
export const visibilityJoins = sql`join repositories r on r.id = e.repo_id join accounts a on a.id = e.actor_id`

/**
 * Decides which events are shown: those that were public at the act and still are, and those of repositories that the viewer has access to. The
 * actor must not be suspended, and what the event refers to must exist and be visible to the viewer.
 */
export function isShown({ viewer, since, until }: View): Sql {
  const own = viewer?.sees_private ? viewer : null
  return sql`e.created_at > ${since} ${until ? sql`and e.created_at <= ${until}` : empty} and a.suspended_at is null
    and ${own ? sql`(e.public and not r.private or ${hasAccessByName(own)})` : sql`e.public and not r.private`}
    and (e.type not in ('ForkEvent', 'MemberEvent', 'ReleaseEvent', 'IssueCommentEvent', 'PullRequestReviewEvent',
        'PullRequestReviewCommentEvent', 'CommitCommentEvent')
      or references_visible(e.type, e.payload, ${own?.viewer_id ?? null}, ${own?.token_id ?? null}))`
}

/** A page of a timeline, newest first, and the number of its events, at most `mostEvents`. */
export async function readTimeline(db: Database, timeline: Timeline, view: View, slice: Slice): Promise<Listed<TimelineEvent>> {
  if (slice.offset >= mostEvents) throw tooFar()
  const limit = Math.min(slice.limit, mostEvents - slice.offset)
  const { rows, found, query, asked } = await readNewest(db, timeline, view, { ...slice, limit })
  if (found < asked) return { rows, total: found }
  return { rows, total: await countEvents(db, query(mostEvents, 'any')) }
}

/** For how long a timeline of the greatest length is not counted again. In milliseconds. */
const trusted = 60_000
const mostKept = 10_000

/**
 * When each timeline was last found to have the greatest length. Timelines rarely become shorter, and counting 300 events takes three times as
 * long as reading 30. If one does become shorter, the link to the last page is wrong for up to a minute.
 */
const full = new WeakMap<Database, Map<string, number>>()

/** Counts the events of a query, which returns at most `mostEvents`. */
async function countEvents(db: Database, events: Sql): Promise<number> {
  const known = full.get(db) ?? new Map<string, number>()
  full.set(db, known)
  // Dates differ from request to request, and do not identify a timeline.
  const key = `${events.text} ${events.values.filter((value) => !(value instanceof Date))}`
  const now = db.now.getTime()
  if (Math.abs(now - (known.get(key) ?? 0)) < trusted) return mostEvents
  const [counted] = await db.genericPlanRows<{ total: number }>(sql`select count(*) as total from (${events}) counted`)
  const total = counted?.total ?? 0
  if (known.size >= mostKept) known.clear()
  if (total === mostEvents) known.set(key, now)
  return total
}

const tooFar = () =>
  new Refusal('invalid', 'In order to keep the API fast for everyone, pagination is limited for this resource.')

/**
 * Limits are literals: with a parameter, the planner assumes a tenth of all events. Only a few lengths are used, because each is a prepared
 * statement of its own.
 */
const lengths = [30, 100, mostEvents]
const literal = (number: number) => raw(String(number))

/** A query of up to `most` events of a timeline; in any order if they are only counted. */
type EventQuery = (most: number, which: 'newest' | 'any') => Sql
const newestFirst = sql`order by e.created_at desc, e.id desc`

/** Up to this many sources are read one by one. With more, filtering the most recent events is faster. */
const fewSources = 200
const recentEvents = 5000

/**
 * For a user who watches 5,000 repositories, a page is among the last few hundred events of the server. For one who watches 50 quiet ones it is
 * not, and 50 sources are read one by one. Many sources are read one by one only if the recent events do not fill a page.
 */
async function readNewest(db: Database, timeline: Timeline, view: View, { limit, offset }: Slice) {
  const asked = lengths.find((length) => length >= offset + limit) ?? mostEvents
  const read = async (query: EventQuery) => {
    const rows = await db.genericPlanRows<TimelineEvent & { found: number }>(sql`
      select e.*, count(*) over () as found from (${withNames(query(asked, 'newest'))}) e ${newestFirst} limit ${limit} offset ${offset}`)
    // A page past the end has no row to take the number from.
    return { rows, found: rows[0]?.found ?? (offset ? asked : 0), query, asked }
  }
  const { sources } = timeline
  if (!sources) return read(filtered(sql`events`, timeline, view))
  const here = await listSourceIds(db, sources, fewSources + 1)
  if (here.repositories.length <= fewSources && here.actors.length <= fewSources) return read(bySource(here, sources, view))
  const recent = sql`
    (select * from events e where e.created_at > ${view.since} ${view.viewer ? empty : sql`and e.public`}
     ${newestFirst} limit ${literal(recentEvents)})`
  const recently = await read(filtered(recent, timeline, view))
  if (recently.rows.length && recently.found === asked) return { ...recently, query: filtered(sql`events`, timeline, view) }
  return read(bySource(await listSourceIds(db, sources, null), sources, view))
}

/** Ordered also when counted: otherwise the planner may start with a month that has few of the events. */
const filtered =
  (events: Sql, { condition }: Timeline, view: View): EventQuery =>
  (most) =>
    sql`select e.* from ${events} e ${visibilityJoins} where ${condition} and ${isShown(view)} ${newestFirst} limit ${literal(most)}`

interface SourceIds {
  repositories: number[]
  actors: number[]
}

async function listSourceIds(db: Database, { repositories, actors }: NonNullable<Timeline['sources']>, most: number | null) {
  const [found] = await db.genericPlanRows<SourceIds>(sql`
    select array(${repositories} limit ${most}) as repositories,
      ${actors ? sql`array(${actors} limit ${most})` : sql`'{}'::bigint[]`} as actors`)
  return { repositories: found?.repositories.map(Number) ?? [], actors: found?.actors.map(Number) ?? [] }
}

/** Merges the newest events of each source. */
function bySource(
  { repositories, actors }: SourceIds,
  { actors_except }: NonNullable<Timeline['sources']>,
  view: View,
): EventQuery {
  const newest = (ids: number[], at: Sql, except: Sql, most: number) => sql`
    select e.* from unnest(${ids}::bigint[]) source (id) cross join lateral (
      select e.* from events e ${visibilityJoins} where ${at} = source.id and ${except} and ${isShown(view)}
      ${newestFirst} limit ${literal(most)}) e`
  return (most, which) => sql`
    select e.* from (
      ${newest(repositories, sql`e.repo_id`, sql`true`, most)}
      union all ${newest(actors, sql`e.actor_id`, actors_except ?? sql`true`, most)}) e ${which === 'newest' ? newestFirst : empty} limit ${literal(most)}`
}
