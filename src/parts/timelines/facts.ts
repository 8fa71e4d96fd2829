import type { StateReason } from '#hosting/issues/issues.ts'
import type { Label } from '#hosting/labels/labels.ts'
import type { Pull } from '#hosting/pulls/pulls.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { ReviewState } from '#hosting/reviews/reviews.ts'

/**
 * What an event keeps of the records that it refers to, as they were at the act; written by `event_facts` in the database. Null, false, zero
 * and other defaults are left out. Dates are seconds since 1970. Accounts, repositories and texts are ids, see records.ts.
 */
export interface Facts {
  issue?: IssueFacts
  pull?: PullFacts
  review?: ReviewFacts
  /** The comment's own row holds everything else, because only its text can change. */
  comment?: Authored
  release?: ReleaseFacts
  label?: LabelFacts
  forkee?: RepositoryFacts
}

export interface Authored {
  author_id?: number
  author_association?: string
}

export type LabelFacts = Omit<Label, 'description'> & { description?: string }

export interface MilestoneFacts {
  id: number
  number: number
  title: string
  creator_id?: number
  state?: 'closed'
  open_issues?: number
  closed_issues?: number
  due_on?: number
  created_at: number
  updated_at: number
  closed_at?: number
}

export interface IssueFacts extends Authored {
  number: number
  title: string
  state?: 'closed'
  state_reason?: StateReason
  locked?: true
  lock_reason?: string
  milestone?: MilestoneFacts
  labels?: LabelFacts[]
  assignees?: number[]
  comments_count?: number
  created_at: number
  updated_at: number
  closed_at?: number
  closed_by_id?: number
  pull_id?: number
  draft?: true
  merged_at?: number
}

export interface PullFacts
  extends IssueFacts,
    Pick<Pull, 'issue_id' | 'head_ref' | 'head_sha' | 'base_ref' | 'base_sha'>,
    Partial<Pick<Pull, 'commits' | 'additions' | 'deletions' | 'changed_files' | 'review_comments_count'>> {
  head_repo_id?: number
  head_owner_id?: number
  maintainer_can_modify?: true
  merged_by_id?: number
  merge_commit_sha?: string
  mergeable_state?: NonNullable<Pull['mergeable_state']>
  requested_reviewers?: number[]
  base: RepositoryFacts
  /** Only if it is another repository, and was public at the act. */
  head?: RepositoryFacts
}

export interface ReviewFacts extends Authored {
  state: ReviewState
  commit_id: string
  submitted_at: number
  updated_at: number
}

export interface ReleaseFacts extends Authored {
  tag_name: string
  target_commitish: string
  name?: string
  prerelease?: true
  created_at: number
  published_at?: number
}

type Settings = 'has_issues' | 'has_projects' | 'has_wiki' | 'allow_rebase_merge' | 'allow_squash_merge' | 'allow_merge_commit'
type Counts = 'size' | 'forks_count' | 'stargazers_count' | 'subscribers_count' | 'open_issues_count'

export interface RepositoryFacts
  extends Partial<Pick<Repository, Settings | Counts | 'archived' | 'is_template' | 'default_branch' | 'topics'>> {
  description?: string
  homepage?: string
  language?: string
  license?: string
  fork?: true
  pushed_at?: number
  created_at: number
  updated_at: number
}
