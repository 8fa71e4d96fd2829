import type { Act } from '#activity/events.ts'

/** What acts are about: a pull request is an issue whose events are of a kind of their own. */
export interface Subject {
  id: number
  pull_id: number | null
}

export function stateAct({ id: issue_id, pull_id }: Subject, action: 'opened' | 'closed' | 'reopened'): Act {
  if (pull_id === null) return { type: 'IssuesEvent', payload: { action, issue_id } }
  return { type: 'PullRequestEvent', payload: { action, pull_id } }
}

export function labelAct({ id: issue_id, pull_id }: Subject, action: 'labeled' | 'unlabeled', label_id: number): Act {
  if (pull_id === null) return { type: 'IssuesEvent', payload: { action, issue_id, label_id } }
  return { type: 'PullRequestEvent', payload: { action, pull_id, label_id } }
}

export function assigneeAct({ id: issue_id, pull_id }: Subject, action: 'assigned' | 'unassigned', assignee_id: number): Act {
  if (pull_id === null) return { type: 'IssuesEvent', payload: { action, issue_id, assignee_id } }
  return { type: 'PullRequestEvent', payload: { action, pull_id, assignee_id } }
}
