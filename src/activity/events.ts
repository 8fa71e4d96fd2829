import type { Push } from './facts.ts'

/**
 * Every act, as the log stores it. A payload refers to accounts, repositories, issues and so on by id. `record_events` adds the facts: what
 * the act is about as it is at that moment, see parts/timelines/facts.ts. Events about something that was deleted are not shown.
 */
export type LoggedEvent =
  | {
      type: 'CreateEvent'
      payload: {
        /** Null when the repository itself was made. */
        ref: string | null
        ref_type: 'repository' | 'branch' | 'tag'
        master_branch: string
        description: string | null
      }
    }
  | { type: 'DeleteEvent'; payload: { ref: string; ref_type: 'branch' | 'tag' } }
  | { type: 'PushEvent'; payload: Push }
  | { type: 'ForkEvent'; payload: { forkee_id: number } }
  // Timelines call a star a "watch": the name is older than stars are, and clients rely on it.
  | { type: 'WatchEvent'; payload: { action: 'started' } }
  | { type: 'PublicEvent'; payload: Record<string, never> }
  | { type: 'MemberEvent'; payload: { action: 'added'; member_id: number } }
  | { type: 'ReleaseEvent'; payload: { action: 'published'; release_id: number } }
  | { type: 'IssuesEvent'; payload: { action: 'opened' | 'closed' | 'reopened'; issue_id: number } }
  | { type: 'IssuesEvent'; payload: { action: 'assigned' | 'unassigned'; issue_id: number; assignee_id: number } }
  | { type: 'IssuesEvent'; payload: { action: 'labeled' | 'unlabeled'; issue_id: number; label_id: number } }
  | { type: 'PullRequestEvent'; payload: { action: 'opened' | 'closed' | 'reopened'; pull_id: number; merged?: true } }
  | { type: 'PullRequestEvent'; payload: { action: 'assigned' | 'unassigned'; pull_id: number; assignee_id: number } }
  | { type: 'PullRequestEvent'; payload: { action: 'labeled' | 'unlabeled'; pull_id: number; label_id: number } }
  | { type: 'IssueCommentEvent'; payload: { action: 'created'; issue_id: number; comment_id: number } }
  | { type: 'PullRequestReviewEvent'; payload: { action: 'created'; pull_id: number; review_id: number } }
  | { type: 'PullRequestReviewCommentEvent'; payload: { action: 'created'; pull_id: number; review_comment_id: number } }
  | { type: 'CommitCommentEvent'; payload: { action: 'created'; commit_comment_id: number } }

export type EventType = LoggedEvent['type']
