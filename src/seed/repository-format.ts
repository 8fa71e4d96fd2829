/** Access to a repository. */
export type SeedPermission = 'pull' | 'triage' | 'push' | 'maintain' | 'admin'

export interface SeedRepository {
  /** `owner/name`. The owner is a user or an organization of the seed. */
  name: string
  at?: string
  /** A repository further up in the seed, as `owner/name`. This one is a fork of it. */
  fork_of?: string
  description?: string
  homepage?: string
  private?: boolean
  /** `main` unless given. */
  default_branch?: string
  topics?: string[]
  /** The files of the first commit, by path. */
  files?: Record<string, string>
  commits?: SeedCommit[]
  tags?: SeedTag[]
  collaborators?: SeedCollaborator[]
  labels?: SeedLabel[]
  milestones?: SeedMilestone[]
  issues?: SeedIssue[]
  /** Their numbers follow those of the issues, unless dates say otherwise. */
  pull_requests?: SeedPullRequest[]
  releases?: SeedRelease[]
  /** The rules apply after all acts of the seed. */
  protected_branches?: SeedProtectedBranch[]
  /** Logins. */
  stargazers?: string[]
  watchers?: string[]
  /** They are created last, so the acts of the seed are not sent to them. */
  hooks?: SeedHook[]
}

/** Commits in a row with the same branch and author are one push. */
export interface SeedCommit {
  message: string
  /** Paths and whole texts. `null` deletes a file. */
  files: Record<string, string | null>
  /** The default branch unless given. */
  branch?: string
  /** Where a new branch begins. The default branch unless given. */
  from?: string
  /** A login, or `Name <name@example.com>`. The owner of the repository unless given. */
  author?: string
  at?: string
}

export interface SeedTag {
  name: string
  /** A branch. The default branch unless given. */
  branch?: string
  at?: string
}

export interface SeedCollaborator {
  login: string
  /** `push` unless given. */
  permission?: SeedPermission
}

export interface SeedLabel {
  name: string
  /** Six hexadecimal digits, in quotes. */
  color?: string
  description?: string
}

export interface SeedMilestone {
  title: string
  description?: string
  due_on?: string
  state?: 'open' | 'closed'
}

export interface SeedIssue {
  title: string
  body?: string
  /** The owner of the repository unless given. */
  author?: string
  at?: string
  /** Names of labels of the repository. */
  labels?: string[]
  assignees?: string[]
  /** The title of a milestone of the repository. */
  milestone?: string
  comments?: SeedComment[]
  state?: 'open' | 'closed'
  state_reason?: 'completed' | 'not_planned'
  /** The author unless given. */
  closed_by?: string
  closed_at?: string
}

export interface SeedComment {
  /** The owner of the repository unless given. */
  author?: string
  body: string
  at?: string
}

export interface SeedPullRequest {
  title: string
  body?: string
  /** The owner of the repository unless given. */
  author?: string
  at?: string
  /** A branch, or `owner:branch` of a fork. */
  head: string
  /** The default branch unless given. */
  base?: string
  draft?: boolean
  labels?: string[]
  assignees?: string[]
  milestone?: string
  /** Logins of users who are asked for a review. */
  reviewers?: string[]
  reviews?: SeedReview[]
  comments?: SeedComment[]
  /** `open` unless given. */
  state?: 'open' | 'closed' | 'merged'
  /** `merge` unless given. */
  merge_method?: 'merge' | 'squash' | 'rebase'
  /** Who merged or closed it. The owner of the repository unless given. */
  closed_by?: string
  closed_at?: string
}

export interface SeedReview {
  author: string
  state: 'approved' | 'changes_requested' | 'commented'
  body?: string
  at?: string
  comments?: SeedReviewComment[]
}

export interface SeedReviewComment {
  path: string
  line: number
  body: string
}

export interface SeedRelease {
  /** A tag of the seed, or a new one at the head of the default branch. */
  tag_name: string
  name?: string
  body?: string
  author?: string
  draft?: boolean
  prerelease?: boolean
  at?: string
}

export interface SeedProtectedBranch {
  branch: string
  /** Approving reviews that a merge needs. Pushes are refused then. */
  required_approvals?: number
  /** Names of statuses or check runs that must succeed. */
  required_checks?: string[]
  /** Whether the rules hold for admins too. */
  enforce_admins?: boolean
}

/** Of a repository or an organization. */
export interface SeedHook {
  url: string
  /** `push` unless given. */
  events?: string[]
  secret?: string
  /** `json` unless given. */
  content_type?: 'json' | 'form'
  active?: boolean
}
