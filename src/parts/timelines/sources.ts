import { type Database, empty, type Slice, type Sql, sql } from '#platform/database.ts'
import { mostEvents } from '#variants.ts'
import { literal, newestFirst, type TimelineEvent, withNames } from './event-rows.ts'
import { areReferencesVisible, hasAccess, isActive, isInTime, isRepositoryVisible, isShown, type View } from './shown.ts'

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
  rows: TimelineEvent[]
}

/**
 * Reads a page of up to 200 sources, and up to `mostEvents` events of the timeline to count them, with one statement.
 *
 * `heads` are the newest few events of each source: together a fifth more than `mostEvents`. `mark` is the time of the last event of the
 * page, if no other event than the heads existed. Only a source whose heads are all newer than that may have others on the page, and `more`
 * reads them. All events of a repository have the same visibility except for what they refer to, so that is decided once. What an event
 * refers to is looked up after it was chosen; if so many turn out to be hidden that an unread event may be on the page, the page is not exact.
 */
export async function readBySource(
  db: Database,
  sources: Sources,
  view: View,
  asked: number,
  { limit, offset }: Slice,
): Promise<SourcePage> {
  const { actors = sql`select id from accounts where false`, actors_except = sql`true` } = sources
  const columns = sql`e.created_at, e.id, e.position, e.type, e.payload, e.facts, e.public, e.actor_id, e.repo_id`
  const only_public = view.viewer ? empty : sql`and e.public`
  const ofRepository = sql`${isInTime(view)} ${only_public} and (e.public and s.open or s.access)`
  const ofActor = sql`${isInTime(view)} ${only_public} and ${actors_except} and ${isRepositoryVisible(view, sql`e.repo_id`)}`
  const visible = sql`${isActive(sql`e.actor_id`)} and ${areReferencesVisible(view)}`
  const continued = sql`(e.created_at, e.id) < (s.created_at, s.id) and e.created_at >= coalesce((select created_at from mark), '-infinity')`
  const rows = await db.genericPlanRows<TimelineEvent & Omit<SourcePage, 'rows'>>(sql`
    with repository as materialized (
      select r.id, not r.private as open, ${hasAccess(view)} as access
      from (${sources.repositories} limit ${literal(fewSources + 1)}) s
        cross join lateral (select r.* from repositories r where r.id = s.id offset 0) r
    ), actor as materialized (
      select s.id from (${actors} limit ${literal(fewSources + 1)}) s
    ), size as materialized (
      select r.total > ${literal(fewSources)} or a.total > ${literal(fewSources)} as many,
        ${literal(mostEvents * 1.2)} / greatest(r.total + a.total, 1) + 1 as heads
      from (select count(*) as total from repository) r, (select count(*) as total from actor) a
    ), heads as materialized (
      select false as by_actor, s.id as source, s.open, s.access, e.* from repository s cross join lateral (
        select ${columns}, row_number() over (${newestFirst}) as nth from events e
        where e.repo_id = s.id and ${ofRepository} ${newestFirst} limit (select heads from size)) e
      where not (select many from size)
      union all
      select true, s.id, false, false, e.* from actor s cross join lateral (
        select ${columns}, row_number() over (${newestFirst}) as nth from events e
        where e.actor_id = s.id and ${ofActor} ${newestFirst} limit (select heads from size)) e
      where not (select many from size)
    ), shown_heads as materialized (
      select ${columns} from heads e where ${visible}
    ), mark as materialized (
      select e.created_at from shown_heads e ${newestFirst} offset ${literal(asked - 1)} limit 1
    ), cut as materialized (
      select s.* from heads s where s.nth = (select heads from size)
        and s.created_at >= coalesce((select created_at from mark), '-infinity')
    ), more as materialized (
      select e.* from cut s cross join lateral (
        select ${columns}, row_number() over (${newestFirst}) as nth from events e
        where e.repo_id = s.source and ${continued} and ${ofRepository} ${newestFirst} limit ${literal(mostEvents)}) e
      where not s.by_actor
      union all
      select e.* from cut s cross join lateral (
        select ${columns}, row_number() over (${newestFirst}) as nth from events e
        where e.actor_id = s.source and ${continued} and ${ofActor} ${newestFirst} limit ${literal(mostEvents)}) e
      where s.by_actor
    ), shown as materialized (
      select e.*, row_number() over (${newestFirst}) as place
      from (select * from shown_heads union all select ${columns} from more e where ${visible}) e
    )
    select t.*, e.*
    from (
      select (select many from size) as many, (select count(*) from shown) as found,
        not exists (select from heads where nth = (select heads from size)) or (not exists (select from mark) and m.unread is null) as all_read,
        m.unread is null or coalesce((select e.created_at > m.unread from shown e where e.place = ${literal(asked)}), false) as exact
      from (select max(created_at) as unread from more where nth = ${literal(mostEvents)}) m
    ) t left join (
      ${withNames(sql`select * from shown e where e.place > ${offset} and e.place <= ${offset}::int + ${limit}::int`)}) e on true
    ${newestFirst}`)
  const { many = false, found = 0, all_read = false, exact = false } = rows[0] ?? {}
  return { many, found, all_read, exact, rows: rows[0]?.id === null ? [] : rows }
}

/** A query of up to `most` events of a timeline; in any order if they are only counted. */
export type EventQuery = (most: number, which: 'newest' | 'any') => Sql

export interface SourceIds {
  repositories: number[]
  actors: number[]
}

export async function listSourceIds(db: Database, { repositories, actors }: Sources): Promise<SourceIds> {
  const [found] = await db.genericPlanRows<SourceIds>(sql`
    select array(${repositories}) as repositories, ${actors ? sql`array(${actors})` : sql`'{}'::bigint[]`} as actors`)
  return { repositories: found?.repositories.map(Number) ?? [], actors: found?.actors.map(Number) ?? [] }
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
