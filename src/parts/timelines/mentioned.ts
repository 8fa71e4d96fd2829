import { type Comment, loadComments } from '#hosting/issues/comments/comments.ts'
import { type Issue, loadIssues } from '#hosting/issues/issues.ts'
import { type Label, loadLabels } from '#hosting/labels/labels.ts'
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
  issues: Map<number, Issue>
  comments: Map<number, Comment>
  labels: Map<number, Label>
}

/** Reads everything that a page of events mentions; a timeline has left out what is gone. */
export async function loadMentioned(db: Queryable, events: TimelineEvent[]): Promise<Mentioned> {
  const [forkees, releases] = [idsOf(events, 'forkee_id'), idsOf(events, 'release_id')]
  const members = [...idsOf(events, 'member_id'), ...idsOf(events, 'assignee_id')]
  const [issues, comments, labels] = [idsOf(events, 'issue_id'), idsOf(events, 'comment_id'), idsOf(events, 'label_id')]
  const [repositories, people, published, talked, said, worn] = await Promise.all([
    forkees.length ? readRepositories(db, null, forkees) : [],
    members.length ? db.rows<Person>(sql`select ${personColumns} from accounts a where a.id = any(${members})`) : [],
    releases.length ? loadReleases(db, releases) : [],
    issues.length ? loadIssues(db, issues) : [],
    comments.length ? loadComments(db, comments) : [],
    labels.length ? loadLabels(db, labels) : [],
  ])
  return {
    repositories: byId(repositories),
    people: byId(people),
    releases: byId(published),
    issues: byId(talked),
    comments: byId(said),
    labels: byId(worn),
  }
}

type Mention = 'forkee_id' | 'member_id' | 'assignee_id' | 'release_id' | 'issue_id' | 'comment_id' | 'label_id'

/** What events name under a key, each once. */
function idsOf(events: TimelineEvent[], key: Mention): number[] {
  return [...new Set(events.flatMap(({ payload }) => (payload as Partial<Record<Mention, number>>)[key] ?? []))]
}

function byId<Row extends { id: number }>(rows: Row[]): Map<number, Row> {
  return new Map(rows.map((row) => [row.id, row]))
}
