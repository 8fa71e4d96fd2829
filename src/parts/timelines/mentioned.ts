import { type CommitComment, loadCommitComments } from '#hosting/commit-comments/commit-comments.ts'
import { type Comment, loadComments } from '#hosting/issues/comments/comments.ts'
import { type Issue, loadIssues } from '#hosting/issues/issues.ts'
import { type Label, loadLabels } from '#hosting/labels/labels.ts'
import { type Person, personColumns } from '#hosting/people/people.ts'
import { loadPulls, type Pull } from '#hosting/pulls/pulls.ts'
import { loadReleases, type Release } from '#hosting/releases/releases.ts'
import { type Repository, readRepositories } from '#hosting/repositories/repositories.ts'
import { loadReviewComments, type ReviewComment } from '#hosting/reviews/comments/comments.ts'
import { loadReviews, type Review } from '#hosting/reviews/reviews.ts'
import { type Queryable, sql } from '#platform/database.ts'
import type { TimelineEvent } from './timelines.ts'

/** What events name by id, by that id. */
export interface Mentioned {
  repositories: Map<number, Repository>
  people: Map<number, Person>
  releases: Map<number, Release>
  issues: Map<number, Issue>
  comments: Map<number, Comment>
  commit_comments: Map<number, CommitComment>
  labels: Map<number, Label>
  pulls: Map<number, Pull>
  reviews: Map<number, Review>
  review_comments: Map<number, ReviewComment>
}

/** Reads everything that a page of events mentions; a timeline has left out what is gone. */
export async function loadMentioned(db: Queryable, events: TimelineEvent[]): Promise<Mentioned> {
  const [forkees, releases, pulls] = [idsOf(events, 'forkee_id'), idsOf(events, 'release_id'), idsOf(events, 'pull_id')]
  const places = [...forkees, ...events.flatMap(({ payload, repo_id }) => ('pull_id' in payload ? [repo_id] : []))]
  const members = [...idsOf(events, 'member_id'), ...idsOf(events, 'assignee_id')]
  const [issues, comments, labels] = [idsOf(events, 'issue_id'), idsOf(events, 'comment_id'), idsOf(events, 'label_id')]
  const commit_comments = idsOf(events, 'commit_comment_id')
  const [reviews, review_comments] = [idsOf(events, 'review_id'), idsOf(events, 'review_comment_id')]
  const [repositories, people, published, talked, said, worn, noted, asked, judged, pointed] = await Promise.all([
    places.length ? readRepositories(db, null, places) : [],
    members.length ? db.rows<Person>(sql`select ${personColumns} from accounts a where a.id = any(${members})`) : [],
    releases.length ? loadReleases(db, releases) : [],
    issues.length ? loadIssues(db, issues) : [],
    comments.length ? loadComments(db, comments) : [],
    labels.length ? loadLabels(db, labels) : [],
    commit_comments.length ? loadCommitComments(db, commit_comments) : [],
    pulls.length ? loadPulls(db, pulls) : [],
    reviews.length ? loadReviews(db, reviews) : [],
    review_comments.length ? loadReviewComments(db, review_comments) : [],
  ])
  return {
    repositories: byId(repositories),
    people: byId(people),
    releases: byId(published),
    issues: byId(talked),
    comments: byId(said),
    labels: byId(worn),
    commit_comments: byId(noted),
    pulls: byId(asked),
    reviews: byId(judged),
    review_comments: byId(pointed),
  }
}

type Mention =
  | 'forkee_id'
  | 'member_id'
  | 'assignee_id'
  | 'release_id'
  | 'issue_id'
  | 'comment_id'
  | 'label_id'
  | 'pull_id'
  | 'review_id'
  | 'review_comment_id'
  | 'commit_comment_id'

/** What events name under a key, each once. */
function idsOf(events: TimelineEvent[], key: Mention): number[] {
  return [...new Set(events.flatMap(({ payload }) => (payload as Partial<Record<Mention, number>>)[key] ?? []))]
}

function byId<Row extends { id: number }>(rows: Row[]): Map<number, Row> {
  return new Map(rows.map((row) => [row.id, row]))
}
