/** Access to a repository. */
export type SeedPermission = 'pull' | 'triage' | 'push' | 'maintain' | 'admin'

export interface SeedRepository {
  /** `owner/name`. The owner is a user or an organization of the seed. */
  name: string
  /** When it happens. A second after the act before it unless given. */
  at?: string
  /** A repository further up in the seed, as `owner/name`. This one is a fork of it. */
  fork_of?: string
  /** What the repository is for. */
  description?: string
  /** An address beside the description. */
  homepage?: string
  /** Whether only users with access see it. `false` unless given. */
  private?: boolean
  /** `main` unless given. */
  default_branch?: string
  /** Words to find it by. */
  topics?: string[]
  /** The files of the first commit, by path. */
  files?: Record<string, string>
  /** Commits after the first, in their order. */
  commits?: SeedCommit[]
  /** Names of commits. */
  tags?: SeedTag[]
  /** Users with access, who have accepted the invitation. */
  collaborators?: SeedCollaborator[]
  /** Labels of its issues and pull requests. */
  labels?: SeedLabel[]
  /** Milestones of its issues and pull requests. */
  milestones?: SeedMilestone[]
  /** Their numbers follow the order of time. */
  issues?: SeedIssue[]
  /** Their numbers follow those of the issues, unless dates say otherwise. */
  pull_requests?: SeedPullRequest[]
  /** Releases, which have a tag. */
  releases?: SeedRelease[]
  /** The rules apply after all acts of the seed. */
  protected_branches?: SeedProtectedBranch[]
  /** Logins. */
  stargazers?: string[]
  /** Logins of users who are notified of everything. */
  watchers?: string[]
  /** They are created last, so the acts of the seed are not sent to them. */
  hooks?: SeedHook[]
}

/** Commits in a row with the same branch and author are one push. */
export interface SeedCommit {
  /** The title, and after an empty line the text. */
  message: string
  /** Paths and whole texts. `null` deletes a file. */
  files: Record<string, string | null>
  /** The default branch unless given. */
  branch?: string
  /** Where a new branch begins. The default branch unless given. */
  from?: string
  /** A login, or `Name <name@example.com>`. The owner of the repository unless given. */
  author?: string
  /** When it happens. A second after the act before it unless given. */
  at?: string
}

export interface SeedTag {
  /** Such as `v1.0`. */
  name: string
  /** A branch. The default branch unless given. */
  branch?: string
  /** When it happens. A second after the act before it unless given. */
  at?: string
}

export interface SeedCollaborator {
  /** The login of a user who is not the owner. */
  login: string
  /** `push` unless given. */
  permission?: SeedPermission
}

export interface SeedLabel {
  /** Unique in the repository. */
  name: string
  /** Six hexadecimal digits, in quotes. */
  color?: string
  /** What the label is for. */
  description?: string
}

export interface SeedMilestone {
  /** Unique in the repository. */
  title: string
  /** What it contains. */
  description?: string
  /** When it is due. */
  due_on?: string
  /** `open` unless given. */
  state?: 'open' | 'closed'
}

export interface SeedIssue {
  /** One line. */
  title: string
  /** Markdown. It may mention users. */
  body?: string
  /** The owner of the repository unless given. */
  author?: string
  /** When it happens. A second after the act before it unless given. */
  at?: string
  /** Names of labels of the repository. */
  labels?: string[]
  /** Logins of users with access. */
  assignees?: string[]
  /** The title of a milestone of the repository. */
  milestone?: string
  /** In their order. */
  comments?: SeedComment[]
  /** `open` unless given. */
  state?: 'open' | 'closed'
  /** Why it is closed. `completed` unless given. */
  state_reason?: 'completed' | 'not_planned'
  /** The author unless given. */
  closed_by?: string
  /** When it is closed. A second after the act before it unless given. */
  closed_at?: string
}

export interface SeedComment {
  /** The owner of the repository unless given. */
  author?: string
  /** Markdown. It may mention users. */
  body: string
  /** When it happens. A second after the act before it unless given. */
  at?: string
}

export interface SeedPullRequest {
  /** One line. */
  title: string
  /** Markdown. It may mention users. */
  body?: string
  /** The owner of the repository unless given. */
  author?: string
  /** When it happens. A second after the act before it unless given. */
  at?: string
  /** A branch, or `owner:branch` of a fork. */
  head: string
  /** The default branch unless given. */
  base?: string
  /** Whether it is not ready for reviews. `false` unless given. */
  draft?: boolean
  /** Names of labels of the repository. */
  labels?: string[]
  /** Logins of users with access. */
  assignees?: string[]
  /** The title of a milestone of the repository. */
  milestone?: string
  /** Logins of users who are asked for a review. */
  reviewers?: string[]
  /** In their order. */
  reviews?: SeedReview[]
  /** In their order, after the reviews. */
  comments?: SeedComment[]
  /** `open` unless given. */
  state?: 'open' | 'closed' | 'merged'
  /** `merge` unless given. */
  merge_method?: 'merge' | 'squash' | 'rebase'
  /** Who merged or closed it. The owner of the repository unless given. */
  closed_by?: string
  /** When it is merged or closed. A second after the act before it unless given. */
  closed_at?: string
}

export interface SeedReview {
  /** The login of the reviewer. */
  author: string
  /** The verdict. */
  state: 'approved' | 'changes_requested' | 'commented'
  /** Markdown. Only an approval may have neither body nor comments. */
  body?: string
  /** When it happens. A second after the act before it unless given. */
  at?: string
  /** Comments on lines. */
  comments?: SeedReviewComment[]
}

export interface SeedReviewComment {
  /** A file that the pull request changes. */
  path: string
  /** A line of the file after the change. */
  line: number
  /** Markdown. */
  body: string
}

export interface SeedRelease {
  /** A tag of the seed, or a new one at the head of the default branch. */
  tag_name: string
  /** The title. */
  name?: string
  /** Markdown. */
  body?: string
  /** The owner of the repository unless given. */
  author?: string
  /** Whether only users with push access see it. `false` unless given. */
  draft?: boolean
  /** Whether it is not ready for everyone. `false` unless given. */
  prerelease?: boolean
  /** When it happens. A second after the act before it unless given. */
  at?: string
}

export interface SeedProtectedBranch {
  /** A branch of the repository. */
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
  /** Where deliveries are sent to. */
  url: string
  /** `push` unless given. */
  events?: string[]
  /** Signs the deliveries. */
  secret?: string
  /** `json` unless given. */
  content_type?: 'json' | 'form'
  /** Whether deliveries are sent. `true` unless given. */
  active?: boolean
}
