import type { ShownTeam } from '#hosting/teams/json.ts'

/** What something was before it was changed, by the names of what changed. */
type Changes = Record<string, unknown>

/** A commit of a push, as a payload lists it. */
export interface CommitNews {
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
  /** Whose it is when that is somebody here. */
  username?: string
}

/** What a push did to one ref, read from the repository before it is told. */
export interface PushNews {
  ref: string
  before: string
  after: string
  created: boolean
  deleted: boolean
  forced: boolean
  base_ref: string | null
  /** Oldest first, and no more than the last 2,048. */
  commits: CommitNews[]
  /** Null when the ref was deleted. */
  head_commit: CommitNews | null
}

type IssueAction =
  | 'opened'
  | 'edited'
  | 'deleted'
  | 'closed'
  | 'reopened'
  | 'assigned'
  | 'unassigned'
  | 'labeled'
  | 'unlabeled'
  | 'locked'
  | 'unlocked'
  | 'milestoned'
  | 'demilestoned'
type PullAction = Exclude<IssueAction, 'deleted'> | 'synchronize' | 'converted_to_draft' | 'ready_for_review' | ReviewerAction
type ReviewerAction = 'review_requested' | 'review_request_removed'

/** What an act on an issue or a pull request names besides it. */
export interface Sorted {
  label_id?: number
  assignee_id?: number
  milestone_id?: number
  changes?: Changes
}

/** Everything that webhooks tell of, with what it is about named by id; see payloads.ts for what each becomes. */
export type News =
  | { event: 'push'; payload: PushNews }
  | { event: 'create' | 'delete'; payload: { ref: string; ref_type: 'branch' | 'tag' } }
  | { event: 'fork'; payload: { forkee_id: number } }
  | { event: 'star'; payload: { action: 'created' | 'deleted'; starred_at: string | null } }
  | { event: 'watch'; payload: { action: 'started' } }
  | { event: 'public'; payload: Record<string, never> }
  | { event: 'member'; payload: { action: 'added' | 'edited' | 'removed'; member_id: number; changes?: Changes } }
  | {
      event: 'repository'
      payload: {
        action:
          | 'created'
          | 'deleted'
          | 'archived'
          | 'unarchived'
          | 'edited'
          | 'renamed'
          | 'transferred'
          | 'publicized'
          | 'privatized'
        changes?: Changes
      }
    }
  | {
      event: 'release'
      payload: {
        action: 'created' | 'published' | 'unpublished' | 'edited' | 'deleted' | 'released' | 'prereleased'
        release_id: number
        changes?: Changes
      }
    }
  | { event: 'issues'; payload: { action: IssueAction; issue_id: number } & Sorted }
  | {
      event: 'issue_comment'
      payload: { action: 'created' | 'edited' | 'deleted'; issue_id: number; comment_id: number; changes?: Changes }
    }
  | {
      event: 'pull_request'
      payload: {
        action: PullAction
        pull_id: number
        reviewer_id?: number
        requested_team?: ShownTeam
        before?: string
        after?: string
      } & Sorted
    }
  | {
      event: 'pull_request_review'
      payload: { action: 'submitted' | 'edited' | 'dismissed'; pull_id: number; review_id: number; changes?: Changes }
    }
  | {
      event: 'pull_request_review_comment'
      payload: { action: 'created' | 'edited' | 'deleted'; pull_id: number; review_comment_id: number; changes?: Changes }
    }
  | { event: 'commit_comment'; payload: { action: 'created'; commit_comment_id: number } }
  | { event: 'label'; payload: { action: 'created' | 'edited' | 'deleted'; label_id: number; changes?: Changes } }
  | {
      event: 'milestone'
      payload: { action: 'created' | 'closed' | 'opened' | 'edited' | 'deleted'; milestone_id: number; changes?: Changes }
    }
  | { event: 'repository_import'; payload: { status: 'success' | 'cancelled' | 'failure' } }
  | { event: 'RepositoryImportEvent'; payload: { status: string; previous_status: string | null; import: object } }
