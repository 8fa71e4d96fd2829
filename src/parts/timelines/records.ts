import type { CommitComment } from '#hosting/commit-comments/commit-comments.ts'
import type { Comment } from '#hosting/issues/comments/comments.ts'
import type { Issue } from '#hosting/issues/issues.ts'
import type { Label } from '#hosting/labels/labels.ts'
import type { Milestone } from '#hosting/milestones/milestones.ts'
import type { Pull } from '#hosting/pulls/pulls.ts'
import type { Release } from '#hosting/releases/releases.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { ReviewComment } from '#hosting/reviews/comments/comments.ts'
import type { Review } from '#hosting/reviews/reviews.ts'
import type { Person } from '#identity/accounts.ts'
import type { Database } from '#platform/database.ts'
import { type CurrentRows, loadCurrent, type NamedRepository, type References, referencesOf } from './current.ts'
import { type EventRow, parseEvent, type TimelineEvent } from './event-rows.ts'
import type {
  Authored,
  Facts,
  IssueFacts,
  LabelFacts,
  MilestoneFacts,
  PullFacts,
  ReleaseFacts,
  RepositoryFacts,
  ReviewFacts,
} from './facts.ts'

/** An event with the records that it refers to: facts as they were at the act, texts and names as they are now. */
export interface EventRecord {
  event: TimelineEvent
  issue?: Issue | undefined
  pull?: Pull | undefined
  /** The repository of the event, if the event is about a pull request. */
  base?: Repository | undefined
  review?: Review | undefined
  comment?: Comment | undefined
  review_comment?: ReviewComment | undefined
  commit_comment?: CommitComment | undefined
  release?: Release | undefined
  label?: Label | undefined
  assignee?: Person | undefined
  member?: Person | undefined
  forkee?: Repository | undefined
}

export async function loadRecords(db: Database, rows: EventRow[]): Promise<EventRecord[]> {
  const events = rows.map(parseEvent)
  const current = await loadCurrent(db, events.flatMap(referencesOf))
  return events.map((event) => recordOf(event, current))
}

export function recordOf(event: TimelineEvent, current: CurrentRows): EventRecord {
  const { repo_id } = event
  const { issue, pull, review, comment, release, label, forkee } = event.facts ?? {}
  const ids = event.payload as References
  const { issue_id = 0, pull_id = 0, review_id = 0, release_id = 0, forkee_id = 0, assignee_id = 0, member_id = 0 } = ids
  return {
    event,
    issue: issue && issueOf(issue, { id: issue_id, repo_id }, current),
    pull: pull && pullOf(pull, { id: pull_id, repo_id }, current),
    base: pull && repositoryOf(pull.base, namedRepository(event)),
    review: review && pull && reviewOf(review, { id: review_id, repo_id, pull_id, pull_number: pull.number }, current),
    ...(comment && commentsOf(comment, ids, event.facts ?? {}, current)),
    release: release && releaseOf(release, { id: release_id, repo_id }, current),
    label: label && labelOf(label),
    assignee: current.accounts.get(assignee_id),
    member: current.accounts.get(member_id),
    forkee: forkee && repositoryOf(forkee, current.repositories.get(forkee_id)),
  }
}

const dateOf = (seconds: number) => new Date(seconds * 1000)
const nullableDate = (seconds: number | undefined) => (seconds === undefined ? null : dateOf(seconds))

const personOf = (id: number | undefined, { accounts }: CurrentRows) => accounts.get(id ?? 0) ?? null
const peopleOf = (ids: number[] = [], { accounts }: CurrentRows) => ids.flatMap((id) => accounts.get(id) ?? [])

const authorOf = ({ author_id, author_association = 'NONE' }: Authored, current: CurrentRows) => ({
  author: personOf(author_id, current),
  author_association,
})

const labelOf = (facts: LabelFacts): Label => ({ ...facts, description: facts.description ?? null })

interface Ids {
  id: number
  repo_id: number
}

function issueOf(facts: IssueFacts, { id, repo_id }: Ids, current: CurrentRows): Issue {
  return {
    ...{ id, repo_id, number: facts.number, title: facts.title, body: current.issues.get(id) ?? null },
    ...authorOf(facts, current),
    editor: null,
    state: facts.state ?? 'open',
    state_reason: facts.state_reason ?? null,
    locked: facts.locked ?? false,
    lock_reason: facts.lock_reason ?? null,
    milestone_id: facts.milestone?.id ?? null,
    milestone: facts.milestone ? milestoneOf(facts.milestone, current) : null,
    labels: (facts.labels ?? []).map(labelOf),
    assignees: peopleOf(facts.assignees, current),
    comments_count: facts.comments_count ?? 0,
    created_at: dateOf(facts.created_at),
    updated_at: dateOf(facts.updated_at),
    closed_at: nullableDate(facts.closed_at),
    closed_by: personOf(facts.closed_by_id, current),
    pull_id: facts.pull_id ?? null,
    draft: facts.draft ?? false,
    merged_at: nullableDate(facts.merged_at),
  }
}

function milestoneOf(facts: MilestoneFacts, current: CurrentRows): Milestone {
  return {
    ...{ id: facts.id, number: facts.number, title: facts.title, state: facts.state ?? 'open' },
    ...{ open_issues: facts.open_issues ?? 0, closed_issues: facts.closed_issues ?? 0 },
    description: current.milestones.get(facts.id) ?? null,
    creator: personOf(facts.creator_id, current),
    due_on: nullableDate(facts.due_on),
    created_at: dateOf(facts.created_at),
    updated_at: dateOf(facts.updated_at),
    closed_at: nullableDate(facts.closed_at),
  }
}

function pullOf(facts: PullFacts, { id, repo_id }: Ids, current: CurrentRows): Pull {
  const { issue_id, head_ref, head_sha, base_ref, base_sha } = facts
  const head = current.repositories.get(facts.head_repo_id ?? 0)
  return {
    ...issueOf(facts, { id: issue_id, repo_id }, current),
    ...{ id, issue_id, head_ref, head_sha, base_ref, base_sha },
    head_repo_id: facts.head_repo_id ?? null,
    head_repo: (facts.head && !head?.private && repositoryOf(facts.head, head)) || null,
    head_owner: personOf(facts.head_owner_id, current),
    draft: facts.draft ?? false,
    maintainer_can_modify: facts.maintainer_can_modify ?? false,
    merged_by: personOf(facts.merged_by_id, current),
    merge_commit_sha: facts.merge_commit_sha ?? null,
    ...{ mergeable_state: facts.mergeable_state ?? null, mergeable_head: head_sha, mergeable_base: null },
    ...{ commits: facts.commits ?? 0, changed_files: facts.changed_files ?? 0 },
    ...{ additions: facts.additions ?? 0, deletions: facts.deletions ?? 0 },
    review_comments_count: facts.review_comments_count ?? 0,
    requested_reviewers: peopleOf(facts.requested_reviewers, current),
    // Only members of an organization may know its teams, and timelines are for everyone.
    requested_teams: [],
  }
}

function reviewOf(facts: ReviewFacts, ids: Ids & { pull_id: number; pull_number: number }, current: CurrentRows): Review {
  const submitted_at = dateOf(facts.submitted_at)
  return {
    ...ids,
    ...authorOf(facts, current),
    editor: null,
    ...{ state: facts.state, body: current.reviews.get(ids.id) ?? '', commit_id: facts.commit_id, dismissal: null },
    ...{ created_at: submitted_at, updated_at: dateOf(facts.updated_at), submitted_at },
  }
}

/** The comment that a payload refers to: on an issue, on lines of a pull request, or on a commit. */
function commentsOf(facts: Authored, ids: References, { issue, pull }: Facts, current: CurrentRows) {
  const author = authorOf(facts, current)
  const comment = current.comments.get(ids.comment_id ?? 0)
  const review_comment = current.review_comments.get(ids.review_comment_id ?? 0)
  const commit_comment = current.commit_comments.get(ids.commit_comment_id ?? 0)
  const subject = issue && { issue_id: ids.issue_id ?? 0, issue_number: issue.number, pull_id: issue.pull_id ?? null }
  return {
    comment: comment && subject && { ...dated(comment), ...author, ...subject },
    review_comment: review_comment &&
      pull && { ...dated(review_comment), ...author, pull_number: pull.number, review_state: null },
    commit_comment: commit_comment && { ...dated(commit_comment), ...author },
  }
}

const dated = <Row extends { created_at: number; updated_at: number }>(row: Row) => ({
  ...row,
  created_at: dateOf(row.created_at),
  updated_at: dateOf(row.updated_at),
})

function releaseOf(facts: ReleaseFacts, { id, repo_id }: Ids, current: CurrentRows): Release | undefined {
  const author = personOf(facts.author_id, current)
  if (!author) return undefined
  return {
    ...{ id, repo_id, tag_name: facts.tag_name, target_commitish: facts.target_commitish, name: facts.name ?? null },
    ...{ author_id: author.id, author_login: author.login, author_type: author.type, author_site_admin: author.site_admin },
    body: current.releases.get(id) ?? null,
    draft: false,
    prerelease: facts.prerelease ?? false,
    created_at: dateOf(facts.created_at),
    published_at: nullableDate(facts.published_at),
    // Files are uploaded after the act.
    assets: [],
  }
}

const namedRepository = (event: TimelineEvent): NamedRepository => ({
  ...{ id: event.repo_id, name: event.repo_name, private: event.repo_private, owner_id: event.owner_id },
  ...{ owner_login: event.owner_login, owner_type: event.owner_type, owner_site_admin: event.owner_site_admin },
})

/** A repository as its JSON needs it. */
function repositoryOf(facts: RepositoryFacts, named: NamedRepository | undefined): Repository | undefined {
  if (!named) return undefined
  const { pushed_at, created_at, updated_at, fork, ...rest } = facts
  return {
    ...defaults,
    ...rest,
    ...named,
    // The JSON shows only whether it is a fork.
    parent_id: fork ? 0 : null,
    pushed_at: nullableDate(pushed_at),
    created_at: dateOf(created_at),
    updated_at: dateOf(updated_at),
  }
}

/** What `repository_facts` leaves out. */
const defaults = {
  ...{ description: null, homepage: null, language: null, license: null },
  ...{ default_branch: 'main', topics: [], archived: false, is_template: false },
  ...{ has_issues: true, has_projects: true, has_wiki: true },
  ...{ allow_rebase_merge: true, allow_squash_merge: true, allow_merge_commit: true },
  ...{ size: 0, forks_count: 0, stargazers_count: 0, subscribers_count: 0, open_issues_count: 0 },
  ...{ allow_forking: true, forked_from_private: false },
  ...{ network_id: 0, template_id: null, automation: false, access: 0 },
}
