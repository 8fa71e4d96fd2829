import { type CommitComment, loadCommitComments } from '#hosting/commit-comments/commit-comments.ts'
import { type Comment, loadComments } from '#hosting/issues/comments/comments.ts'
import { type Issue, loadIssues } from '#hosting/issues/issues.ts'
import { type Label, loadLabels } from '#hosting/labels/labels.ts'
import { loadMilestones, type Milestone } from '#hosting/milestones/milestones.ts'
import { loadPulls, type Pull } from '#hosting/pulls/pulls.ts'
import { loadReleases, type Release } from '#hosting/releases/releases.ts'
import { type Repository, readRepositories } from '#hosting/repositories/repositories.ts'
import { loadReviewComments, type ReviewComment } from '#hosting/reviews/comments/comments.ts'
import { loadReviews, type Review } from '#hosting/reviews/reviews.ts'
import { type Person, personColumns } from '#identity/accounts.ts'
import { type Queryable, sql, Transaction } from '#platform/database.ts'

/** What somebody is told of by id. */
export interface Mentioned {
  repositories: Map<number, Repository>
  people: Map<number, Person>
  releases: Map<number, Release>
  issues: Map<number, Issue>
  comments: Map<number, Comment>
  commit_comments: Map<number, CommitComment>
  labels: Map<number, Label>
  milestones: Map<number, Milestone>
  pulls: Map<number, Pull>
  reviews: Map<number, Review>
  review_comments: Map<number, ReviewComment>
}

/** Where something happened, and what it names by id. */
export interface Naming {
  repo_id: number
  payload: object
}

/** Reads everything that is mentioned; what is gone is in no map. */
export async function loadMentioned(db: Queryable, namings: Naming[], readPulls = loadPulls): Promise<Mentioned> {
  const [forkees, releases, pulls] = [idsOf(namings, 'forkee_id'), idsOf(namings, 'release_id'), idsOf(namings, 'pull_id')]
  const places = [...forkees, ...namings.flatMap(({ payload, repo_id }) => ('pull_id' in payload ? [repo_id] : []))]
  const members = [...idsOf(namings, 'member_id'), ...idsOf(namings, 'assignee_id'), ...idsOf(namings, 'reviewer_id')]
  const [issues, comments, labels] = [idsOf(namings, 'issue_id'), idsOf(namings, 'comment_id'), idsOf(namings, 'label_id')]
  const [commit_comments, milestones] = [idsOf(namings, 'commit_comment_id'), idsOf(namings, 'milestone_id')]
  const [reviews, review_comments] = [idsOf(namings, 'review_id'), idsOf(namings, 'review_comment_id')]
  // A transaction has one connection, on which one statement runs after the other.
  const turns = db instanceof Transaction ? inTurn() : atOnce
  const read = <Row extends { id: number }>(ids: number[], load: (ids: number[]) => Promise<Row[]>) =>
    turns(async () => new Map(ids.length ? (await load(ids)).map((row) => [row.id, row]) : []))
  const [repositories, people, published, talked, said, worn, planned, noted, asked, judged, pointed] = await Promise.all([
    read(places, (ids) => readRepositories(db, null, ids)),
    read(members, (ids) => db.rows<Person>(sql`select ${personColumns} from accounts a where a.id = any(${ids})`)),
    read(releases, (ids) => loadReleases(db, ids)),
    read(issues, (ids) => loadIssues(db, ids)),
    read(comments, (ids) => loadComments(db, ids)),
    read(labels, (ids) => loadLabels(db, ids)),
    read(milestones, (ids) => loadMilestones(db, ids)),
    read(commit_comments, (ids) => loadCommitComments(db, ids)),
    read(pulls, (ids) => readPulls(db, ids)),
    read(reviews, (ids) => loadReviews(db, ids)),
    read(review_comments, (ids) => loadReviewComments(db, ids)),
  ])
  return {
    repositories,
    people,
    releases: published,
    issues: talked,
    comments: said,
    labels: worn,
    milestones: planned,
    commit_comments: noted,
    pulls: asked,
    reviews: judged,
    review_comments: pointed,
  }
}

type Mention =
  | 'forkee_id'
  | 'member_id'
  | 'assignee_id'
  | 'reviewer_id'
  | 'release_id'
  | 'issue_id'
  | 'comment_id'
  | 'label_id'
  | 'milestone_id'
  | 'pull_id'
  | 'review_id'
  | 'review_comment_id'
  | 'commit_comment_id'

/** What is named under a key, each once. */
function idsOf(namings: Naming[], key: Mention): number[] {
  return [...new Set(namings.flatMap(({ payload }) => (payload as Partial<Record<Mention, number>>)[key] ?? []))]
}

type Turns = <T>(work: () => Promise<T>) => Promise<T>

const atOnce: Turns = (work) => work()

function inTurn(): Turns {
  let before: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = before.then(work)
    before = result
    return result
  }
}
