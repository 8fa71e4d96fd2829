import type { LoggedEvent } from '#activity/acts.ts'
import { hasAccessByName } from '#hosting/repositories/visibility.ts'
import type { Account, Sight } from '#identity/accounts.ts'
import { type Database, empty, type Listed, raw, type Slice, type Sql, sql } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { mostEvents } from '#variants.ts'
import type { Facts } from './facts.ts'
import { countEvents } from './length.ts'

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

/** Which events belong together. */
export interface Timeline {
  /** Over the event `e` and its repository `r`. */
  condition: Sql
  /** Where to look for them, in timelines that many places feed. Each event is found at one of them only. */
  places?: { repositories: Sql; actors?: Sql; actors_besides?: Sql }
}

/** Asked row by row: with `exists`, the database would first read all that somebody watches. */
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
    places: { repositories: sql`select id from repositories where network_id = ${repo.network_id}` },
  }),
  organization: (org: Account): Timeline => ({
    condition: sql`r.owner_id = ${org.id}`,
    places: { repositories: sql`select id from repositories where owner_id = ${org.id}` },
  }),
  /** What a person watches, and what those do whom they follow. */
  received: (user: Account): Timeline => ({
    condition: sql`(${watches(user)} or ${follows(user)})`,
    places: {
      repositories: sql`select repo_id as id from subscriptions where user_id = ${user.id} and not ignored`,
      actors: sql`select followed_id as id from follows where follower_id = ${user.id}`,
      actors_besides: sql`not ${watches(user)}`,
    },
  }),
}

/** How a timeline is looked at. */
export interface View {
  /** Whose private things are shown; null: nobody's. */
  sight: Sight | null
  since: Date
  /** Nothing younger than this is shown yet; null: no such limit. */
  until: Date | null
}

/** The events `e`, with those they are about. */
export const written = (events: Sql) => sql`
  select e.id, e.position, e.type, e.payload, e.facts, e.public and not r.private as public, e.created_at, e.actor_id, a.login as actor_login,
    e.repo_id, r.name as repo_name, r.private as repo_private, r.owner_id, o.login as owner_login, o.type as owner_type,
    o.site_admin as owner_site_admin
  from (${events}) e join repositories r on r.id = e.repo_id join accounts a on a.id = e.actor_id join accounts o on o.id = r.owner_id`

/** What it takes to know whether an event is shown. */
export const related = sql`join repositories r on r.id = e.repo_id join accounts a on a.id = e.actor_id`

/**
 * The one rule of what is shown: what was public when it happened and still is, or is within the viewer's reach; by people who are not
 * suspended; about things that are still there, and that the viewer may see.
 */
export function shown({ sight, since, until }: View): Sql {
  const own = sight?.sees_private ? sight : null
  return sql`e.created_at > ${since} ${until ? sql`and e.created_at <= ${until}` : empty} and a.suspended_at is null
    and ${own ? sql`(e.public and not r.private or ${hasAccessByName(own)})` : sql`e.public and not r.private`}
    and (e.type not in ('ForkEvent', 'MemberEvent', 'ReleaseEvent', 'IssueCommentEvent', 'PullRequestReviewEvent',
        'PullRequestReviewCommentEvent', 'CommitCommentEvent')
      or references_visible(e.type, e.payload, ${own?.viewer_id ?? null}, ${own?.token_id ?? null}))`
}

/** A page of a timeline, newest first, and how many events it has in all, as far as anyone may page. */
export async function readTimeline(db: Database, timeline: Timeline, view: View, slice: Slice): Promise<Listed<TimelineEvent>> {
  if (slice.offset >= mostEvents) throw tooFar()
  const limit = Math.min(slice.limit, mostEvents - slice.offset)
  const end = slice.offset + limit
  const { found, source, asked } = await find(db, timeline, view, end)
  const rows = found.slice(slice.offset, end)
  if (found.length < asked) return { rows, total: found.length }
  return { rows, total: await countEvents(db, source(mostEvents, 'any')) }
}

const tooFar = () =>
  new Refusal('invalid', 'In order to keep the API fast for everyone, pagination is limited for this resource.')

/**
 * Limits stand in the statement itself: one that is left open makes the database prepare for a tenth of all events. Few lengths make few
 * statements.
 */
const lengths = [30, 100, mostEvents]
const literal = (number: number) => raw(String(number))

/** So many events of a timeline: the newest, or any when they are only to be counted. */
type Source = (most: number, which: 'newest' | 'any') => Sql
const newestFirst = sql`order by e.created_at desc, e.id desc`

/** Up to this many places are looked at one by one; more than that are found faster among all that happened lately. */
const fewPlaces = 200
const lately = 5000

/**
 * Who watches 5,000 repositories finds a page among the last few hundred events of all; who watches 50 quiet ones would not, and has
 * 50 places to look at. Only when many places are all quiet is each of them looked at.
 */
async function find(db: Database, timeline: Timeline, view: View, wanted: number) {
  const asked = lengths.find((length) => length >= wanted) ?? mostEvents
  const read = async (source: Source) => {
    const found = await db.genericPlanRows<TimelineEvent>(sql`${written(source(asked, 'newest'))} ${newestFirst}`)
    return { found, source, asked }
  }
  const { places } = timeline
  if (!places) return read(among(sql`events`, timeline, view))
  const here = await listPlaces(db, places, fewPlaces + 1)
  if (here.repositories.length <= fewPlaces && here.actors.length <= fewPlaces) return read(byPlace(here, places, view))
  const recent = sql`
    (select * from events e where e.created_at > ${view.since} ${view.sight ? empty : sql`and e.public`}
     ${newestFirst} limit ${literal(lately)})`
  const recently = await read(among(recent, timeline, view))
  if (recently.found.length === asked) return { ...recently, source: among(sql`events`, timeline, view) }
  return read(byPlace(await listPlaces(db, places, null), places, view))
}

/** In their order even when any would do: otherwise the database might begin with a month that has few of them. */
const among =
  (events: Sql, { condition }: Timeline, view: View): Source =>
  (most) =>
    sql`select e.* from ${events} e ${related} where ${condition} and ${shown(view)} ${newestFirst} limit ${literal(most)}`

interface Places {
  repositories: number[]
  actors: number[]
}

async function listPlaces(db: Database, { repositories, actors }: NonNullable<Timeline['places']>, most: number | null) {
  const [found] = await db.genericPlanRows<Places>(sql`
    select array(${repositories} limit ${most}) as repositories,
      ${actors ? sql`array(${actors} limit ${most})` : sql`'{}'::bigint[]`} as actors`)
  return { repositories: found?.repositories.map(Number) ?? [], actors: found?.actors.map(Number) ?? [] }
}

/** The newest of each place, put together. */
function byPlace({ repositories, actors }: Places, { actors_besides }: NonNullable<Timeline['places']>, view: View): Source {
  const newest = (ids: number[], at: Sql, besides: Sql, most: number) => sql`
    select e.* from unnest(${ids}::bigint[]) place (id) cross join lateral (
      select e.* from events e ${related} where ${at} = place.id and ${besides} and ${shown(view)}
      ${newestFirst} limit ${literal(most)}) e`
  return (most, which) => sql`
    select e.* from (
      ${newest(repositories, sql`e.repo_id`, sql`true`, most)}
      union all ${newest(actors, sql`e.actor_id`, actors_besides ?? sql`true`, most)}) e ${which === 'newest' ? newestFirst : empty} limit ${literal(most)}`
}
