import type { CommitObject } from '#git/objects.ts'

/** A commit as a timeline lists it. */
export interface PushedCommit {
  sha: string
  message: string
  author: { name: string; email: string }
  /** False when another branch had the commit already. */
  distinct: boolean
}

/** What a push did to one branch. */
export interface Push {
  push_id: number
  ref: string
  head: string
  before: string
  /** How many commits the push brought; `commits` has the last few. */
  size: number
  distinct_size: number
  commits: PushedCommit[]
}

/** A commit as a webhook payload lists it. */
export interface DeliveredCommit {
  id: string
  tree_id: string
  distinct: boolean
  message: string
  timestamp: string
  author: Signature
  committer: Signature
  added: string[]
  removed: string[]
  modified: string[]
}

interface Signature {
  name: string
  email: string
  /** The login of the account with this email address, if there is one. */
  username?: string
}

/** What a push did to one ref, read from git before the transaction and only when a hook subscribes. */
export interface DeliveredPush {
  ref: string
  before: string
  after: string
  created: boolean
  deleted: boolean
  forced: boolean
  base_ref: string | null
  /** Oldest first, the last 2,048 at most. */
  commits: DeliveredCommit[]
  /** Null when the ref was deleted. */
  head_commit: DeliveredCommit | null
}

/** A branch that contains a commit, as a webhook payload lists it. */
export interface DeliveredBranch {
  name: string
  /** Its last commit. */
  sha: string
  protected: boolean
}

/** Previous values by the name of the field that changed, as webhook payloads show them. */
export type Changes = Record<string, unknown>

/** Every fact that an act can state: ids and plain values, never the JSON of a record. */
export interface Facts extends Omit<Push, 'ref'> {
  issue_id: number
  /** Null when the issue is not a pull request. */
  pull_id: number | null
  comment_id: number
  review_id: number
  review_comment_id: number
  /** The id of its first comment. */
  review_thread_id: number
  commit_comment_id: number
  release_id: number
  label_id: number
  milestone_id: number
  assignee_id: number
  requested_reviewer_id: number
  requested_team_id: number
  team_id: number
  member_id: number
  forkee_id: number
  former_owner_id: number
  invitation_id: number
  transfer_id: number
  import_id: number
  hook_id: number
  status_id: number
  deployment_id: number
  deployment_status_id: number
  deploy_key_id: number
  check_run_id: number
  check_suite_id: number
  protection_id: number
  organization_invitation_id: number
  /** The repository of an act in an organization. */
  repo_id: number

  /** The short name of a branch or tag, the full name in a push; null when the repository itself was created. */
  ref: string | null
  ref_type: 'repository' | 'branch' | 'tag'
  master_branch: string
  description: string | null
  /** True when the push moves so many refs that hooks get no deliveries for them. */
  in_bulk: boolean
  /** Undefined when no hook subscribes to pushes. */
  delivery: DeliveredPush | undefined

  merged: true
  commit_id: string
  after: string
  state_reason: string | null
  lock_reason: string | null
  renamed_from: string
  renamed_to: string
  /** The Markdown text that was written; users mentioned in it are notified. */
  body: string | null
  changes: Changes
  /** The role of a member in an organization. */
  role: 'admin' | 'member'
  /** The level of a team's access to the repository, see identity/access.ts. */
  access: number
  /** Accounts that the act concerns, besides those named by another fact. */
  people: number[]
  /** The title of a subject that has no row of its own. */
  title: string
  commit_author_id: number | null
  committer_id: number | null
  /** The commit that the act is about. Undefined when no hook subscribes. */
  commit: CommitObject | undefined
  /** The app that the act asks for something: no other hook gets it. Null: every hook does. */
  for_app_id: number | null
  /** Branches that contain the commit. */
  branches: DeliveredBranch[]
  status: string
  previous_status: string | null
  import: object
}
