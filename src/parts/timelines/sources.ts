import { type Database, empty, raw, type Sql, sql } from '#platform/database.ts'
import type { Slice } from '#platform/listed.ts'
import { mostEvents } from '#variants.ts'
import { type EventRow, literal, newestFirst, withNames } from './event-rows.ts'
import { areReferencesVisible, hasAccess, isInView, isRepositoryVisible, isShown, referringTypes, type View } from './shown.ts'

/** The repositories and actors whose events make up a timeline. Each event comes from one source only. */
export interface Sources {
  repositories: Sql
  actors?: Sql
  /** The events of the actors that do not come from one of the repositories. */
  actors_except?: Sql
}

/** Up to this many sources are read one by one. With more, filtering the most recent events is faster. */
export const fewSources = 200

export interface SourcePage {
  /** There are more than `fewSources`, and nothing was read. */
  many: boolean
  /** How many visible events were read, and whether there are no others. */
  found: number
  all_read: boolean
  /** Whether the rows are the page. If not, too many of the events that were read are hidden. */
  exact: boolean
  rows: EventRow[]
  ids: SourceIds
}

export interface SourceIds {
  repositories: number[]
  actors: number[]
}

/**
 * Reads a page of up to 200 sources, and up to `mostEvents` events of the timeline to count them, with one statement.
 *
 * `heads` are the newest few events of each source: together somewhat more than `mostEvents`. A page ends at about `mark`, so only a source
 * whose heads are all newer may have others on the page, and `more` reads these. What an event refers to is looked up after the event was
 * chosen: if so many of them are hidden that the page ends below `mark`, or below what was read of a source, the page is not exact.
 *
 * Only keys and what decides on visibility are carried along: an event has a kilobyte, and a page is a tenth of the events that are read.
 */
export async function readBySource(
  db: Database,
  { repositories, actors }: Sources,
  view: View,
  asked: number,
  { limit, offset }: Slice,
): Promise<SourcePage> {
  const columns = sql`e.created_at, e.id, e.actor_id, e.type, case when e.type in (${raw(referring)}) then e.payload end as payload`
  const only_public = view.viewer ? empty : sql`and e.public`
  const ofRepository = sql`e.repo_id = s.source and ${isInView(view)} ${only_public} and (e.public and s.open or s.access)`
  const ofActor = sql`e.actor_id = s.source and ${isInView(view)} ${only_public}
    and e.repo_id not in (select source from repository) and ${isRepositoryVisible(view, sql`e.repo_id`)}`
  const marked = sql`coalesce((select created_at from mark), '-infinity')`
  const continued = sql`(e.created_at, e.id) < (s.created_at, s.id) and e.created_at >= ${marked}`
  // Some events of the page may be hidden.
  const enough = literal(Math.ceil(asked * 1.5))
  const rows = await db.genericPlanRows<EventRow & Omit<SourcePage, 'rows' | 'ids'> & Record<keyof SourceIds, string>>(sql`
    with listed as materialized (
      ${repositories} limit ${literal(fewSources + 1)}
    ), actor as materialized (
      ${actors ? sql`${actors} limit ${literal(fewSources + 1)}` : sql`select 0 as id where false`}
    ), size as materialized (
      select r.total > ${literal(fewSources)} or a.total > ${literal(fewSources)} as many,
        ${literal(mostEvents * 1.1)} / greatest(r.total + a.total, 1) + 1 as heads
      from (select count(*) as total from listed) r, (select count(*) as total from actor) a
    ), repository as materialized (
      select r.id as source, not r.private as open, ${hasAccess(view)} as access
      from listed s cross join lateral (select r.* from repositories r where r.id = s.id offset 0) r
      where not (select many from size)
    ), heads as materialized (
      select false as by_actor, s.source, s.open, s.access, e.* from repository s cross join lateral (
        select ${columns} from events e where ${ofRepository} ${newestFirst} limit (select heads from size)) e
      where (s.open or s.access) and not (select many from size)
      ${
        !actors
          ? empty
          : sql`union all
      select true, s.source, false, false, e.* from (select id as source from actor) s cross join lateral (
        select ${columns} from events e where ${ofActor} ${newestFirst} limit (select heads from size)) e
      where not (select many from size)`
      }
    ), mark as materialized (
      select e.created_at from heads e ${newestFirst} offset ${enough} limit 1
    ), ended as materialized (
      select h.by_actor, h.source, bool_or(h.open) as open, bool_or(h.access) as access, min(h.created_at) as created_at
      from heads h group by h.by_actor, h.source having count(*) = (select heads from size)
    ), cut as materialized (
      select c.*, (select min(h.id) from heads h
        where h.by_actor = c.by_actor and h.source = c.source and h.created_at = c.created_at) as id
      from ended c where c.created_at >= ${marked}
    ), more as materialized (
      select s.source, e.* from cut s cross join lateral (
        select ${columns} from events e where ${ofRepository} and ${continued} ${newestFirst} limit ${enough}) e
      where not s.by_actor
      ${
        !actors
          ? empty
          : sql`union all
      select -s.source, e.* from cut s cross join lateral (
        select ${columns} from events e where ${ofActor} and ${continued} ${newestFirst} limit ${enough}) e
      where s.by_actor`
      }
    ), candidate as not materialized (
      select e.created_at, e.id, e.actor_id, e.type, e.payload from heads e
      union all select e.created_at, e.id, e.actor_id, e.type, e.payload from more e
    ), suspended as materialized (
      select a.id from (select distinct actor_id from candidate) s
        cross join lateral (select a.id from accounts a where a.id = s.actor_id and a.suspended_at is not null offset 0) a
    ), shown as materialized (
      select e.created_at, e.id, row_number() over (${newestFirst}) as place from candidate e
      where e.actor_id not in (select id from suspended) and ${areReferencesVisible(view)}
    )
    select t.many, t.found, t.all_read, t.all_read or coalesce(t.last >= ${marked} and t.last > coalesce(t.unread, '-infinity'), false) as exact,
      t.repositories, t.actors, e.*
    from (
      select (select many from size) as many, s.found, s.last, m.unread,
        array_to_string(array(select source from repository), ' ') as repositories, array_to_string(array(select id from actor), ' ') as actors,
        (select count(*) from ended) = 0 or (not exists (select from mark) and m.unread is null) as all_read
      from (select count(*) as found, min(created_at) filter (where place = ${literal(asked)}) as last from shown) s, (
        select max(s.last) as unread from (
          select min(created_at) as last from more group by source having count(*) = ${enough}) s) m
    ) t left join (${withNames(sql`
      select e.* from shown s cross join lateral (select e.* from events e where e.created_at = s.created_at and e.id = s.id offset 0) e
      where s.place > ${offset} and s.place <= ${offset}::int + ${limit}::int`)}) e on true
    ${newestFirst}`)
  const {
    many = false,
    found = 0,
    all_read = false,
    exact = false,
    repositories: watched = '',
    actors: followed = '',
  } = rows[0] ?? {}
  const ids = { repositories: parseIds(watched), actors: parseIds(followed) }
  return { many, found, all_read, exact, rows: rows[0]?.id === null ? [] : rows, ids }
}

/** Lists of ids are text: the driver would parse an array for each row. */
const parseIds = (text: string) => (text === '' ? [] : text.split(' ').map(Number))

const referring = referringTypes.map((type) => `'${type}'`).join(', ')

/** A query of up to `most` events of a timeline; in any order if they are only counted. */
export type EventQuery = (most: number, which: 'newest' | 'any') => Sql

export async function listSourceIds(db: Database, { repositories, actors }: Sources): Promise<SourceIds> {
  const [found] = await db.genericPlanRows<SourceIds>(sql`
    select array(${repositories}) as repositories, ${actors ? sql`array(${actors})` : sql`'{}'::bigint[]`} as actors`)
  return { repositories: found?.repositories.map(Number) ?? [], actors: found?.actors.map(Number) ?? [] }
}

/** Undefined if there are more than `fewSources`. */
export async function listFewSources(db: Database, { repositories, actors }: Sources): Promise<SourceIds | undefined> {
  const few = (ids: Sql) => sql`select id from (${ids}) s limit ${literal(fewSources + 1)}`
  const found = await listSourceIds(db, { repositories: few(repositories), ...(actors && { actors: few(actors) }) })
  return found.repositories.length > fewSources || found.actors.length > fewSources ? undefined : found
}

/** Merges the newest visible events of each source, as many as asked for from each. */
export function bySource({ repositories, actors }: SourceIds, { actors_except }: Sources, view: View): EventQuery {
  const newest = (ids: number[], at: Sql, except: Sql, most: number) => sql`
    select e.* from unnest(${ids}::bigint[]) source (id) cross join lateral (
      select e.* from events e where ${at} = source.id and ${except} and ${isShown(view)} ${newestFirst} limit ${literal(most)}) e`
  return (most, which) => sql`
    select e.* from (
      ${newest(repositories, sql`e.repo_id`, sql`true`, most)}
      union all ${newest(actors, sql`e.actor_id`, actors_except ?? sql`true`, most)}) e ${which === 'newest' ? newestFirst : empty} limit ${literal(most)}`
}
