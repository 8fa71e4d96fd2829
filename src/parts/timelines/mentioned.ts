import { type Person, personColumns } from '#hosting/people/people.ts'
import { loadReleases, type Release } from '#hosting/releases/releases.ts'
import { type Repository, readRepositories } from '#hosting/repositories/repositories.ts'
import { type Queryable, sql } from '#platform/database.ts'
import type { TimelineEvent } from './timelines.ts'

/** What events name by id, by that id. */
export interface Mentioned {
  repositories: Map<number, Repository>
  people: Map<number, Person>
  releases: Map<number, Release>
}

/** Reads everything that a page of events mentions; a timeline has left out what is gone. */
export async function loadMentioned(db: Queryable, events: TimelineEvent[]): Promise<Mentioned> {
  const forkees = events.flatMap((event) => (event.type === 'ForkEvent' ? [event.payload.forkee_id] : []))
  const members = events.flatMap((event) => (event.type === 'MemberEvent' ? [event.payload.member_id] : []))
  const releases = events.flatMap((event) => (event.type === 'ReleaseEvent' ? [event.payload.release_id] : []))
  const [repositories, people, published] = await Promise.all([
    forkees.length ? readRepositories(db, null, forkees) : [],
    members.length ? db.rows<Person>(sql`select ${personColumns} from accounts a where a.id = any(${members})`) : [],
    releases.length ? loadReleases(db, releases) : [],
  ])
  return { repositories: byId(repositories), people: byId(people), releases: byId(published) }
}

function byId<Row extends { id: number }>(rows: Row[]): Map<number, Row> {
  return new Map(rows.map((row) => [row.id, row]))
}
