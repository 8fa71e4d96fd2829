/** What a Belfry contains when it starts: a typed object, or a YAML or JSON file of the same shape. See docs/seed.md. */
export interface Seed {
  /** When the first act happens, such as `2026-01-01T09:00:00Z`, which is the default. Every act without a date is a second after the one before it. */
  start?: string
  users?: SeedUser[]
  organizations?: SeedOrganization[]
  repositories?: SeedRepository[]
  oauth_applications?: SeedOAuthApplication[]
  apps?: SeedApp[]
}

export interface SeedUser {
  /** `admin` is the site admin, who exists in every Belfry. */
  login: string
  name?: string
  /** `login@example.com` unless given. */
  email?: string
  /** Without one, the user cannot sign in on the pages. Tokens work. */
  password?: string
  bio?: string
  company?: string
  location?: string
  site_admin?: boolean
  /** A user without tokens gets one with all scopes, whose value follows from the login. */
  tokens?: SeedToken[]
  /** Logins of users. */
  follows?: string[]
}

export interface SeedToken {
  /** Unique in the seed. */
  name: string
  /** The token itself, such as `bfp_` and 36 letters and digits. It follows from the name unless given. */
  value?: string
  /** All scopes except `site_admin` unless given. */
  scopes?: string[]
}

export interface SeedOrganization {
  login: string
  name?: string
  description?: string
  /** Logins, at least one. */
  owners: string[]
  members?: string[]
  /** Access of all members to all repositories: `read` unless given. */
  default_permission?: 'none' | 'read' | 'write' | 'admin'
  teams?: SeedTeam[]
  hooks?: SeedHook[]
}

export interface SeedTeam {
  name: string
  description?: string
  /** `secret` teams are visible to their members only. `closed` unless given. */
  privacy?: 'closed' | 'secret'
  maintainers?: string[]
  members?: string[]
  repositories?: SeedTeamRepository[]
}

export interface SeedTeamRepository {
  /** A repository of the organization, as `owner/name`. */
  name: string
  /** `pull` unless given. */
  permission?: SeedPermission
}

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

export interface SeedHook {
  url: string
  /** `push` unless given. */
  events?: string[]
  secret?: string
  /** `json` unless given. */
  content_type?: 'json' | 'form'
  active?: boolean
}

export interface SeedOAuthApplication {
  name: string
  /** A login. */
  owner: string
  /** The home page. */
  url?: string
  callback_url: string
  /** Both follow from the name unless given. */
  client_id?: string
  client_secret?: string
}

export interface SeedApp {
  /** Its slug is the name in small letters, with hyphens. */
  name: string
  owner: string
  url?: string
  description?: string
  callback_url?: string
  /** Such as `{ issues: write }`. */
  permissions?: Record<string, string>
  events?: string[]
  webhook_url?: string
  webhook_secret?: string
  client_id?: string
  client_secret?: string
  /** An RSA key in PEM format. A new one unless given. */
  private_key?: string
  installations?: SeedInstallation[]
}

export interface SeedInstallation {
  /** The login of a user or an organization. */
  account: string
  /** `owner/name`; all repositories of the account unless given. */
  repositories?: string[]
}

/** How to reach what a seed made. */
export interface SeedAccess {
  /** The token in BELFRY_ADMIN_TOKEN, or the first that the seed gives to `admin`. Null: the first start printed it. */
  admin_token: string | null
  users: Record<string, SeededUser>
  /** By the names in the seed, and by login for users without tokens. */
  tokens: Record<string, string>
  oauth_applications: Record<string, { client_id: string; client_secret: string }>
  /** By slug. */
  apps: Record<string, SeededApp>
  /** When the last act of the seed happened. A clock that is set for tests should not be before it. */
  ends_at: Date
}

export interface SeededUser {
  login: string
  id: number
  /** The first of the user's tokens. */
  token: string
  password?: string
}

export interface SeededApp {
  id: number
  slug: string
  client_id: string
  client_secret: string
  webhook_secret: string | null
  private_key: string
  /** Ids of installations by login. */
  installations: Record<string, number>
}
