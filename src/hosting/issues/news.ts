import { changesOf } from '#hosting/payloads/edited-fields.ts'
import type { News, Sorted } from '#hosting/payloads/news.ts'
import type { Subject } from './acts.ts'
import type { IssueAct } from './events/events.ts'

type Action = Exclude<Extract<News, { event: 'issues' }>['payload']['action'], 'deleted'>

/** What webhooks tell of an issue, or of a pull request, which is an event of its own. */
export function issueNews({ id: issue_id, pull_id }: Subject, action: Action, sorted: Sorted = {}): News {
  if (pull_id === null) return { event: 'issues', payload: { action, issue_id, ...sorted } }
  return { event: 'pull_request', payload: { action, pull_id, ...sorted } }
}

interface Said {
  title: string
  body: string | null
}

export function editNews(held: Subject & Said, said: Said): News[] {
  const edit = changesOf<Said>(held, said, 'title', 'body')
  return edit.changes ? [issueNews(held, 'edited', edit)] : []
}

/** Of what is written into its history, what is told by the same name. */
export function newsOf(issue: Subject, ...acts: IssueAct[]): News[] {
  return acts.flatMap((act) => {
    switch (act.event) {
      case 'closed':
      case 'reopened':
      case 'locked':
      case 'unlocked':
        return [issueNews(issue, act.event)]
      case 'labeled':
      case 'unlabeled':
        return [issueNews(issue, act.event, { label_id: act.label_id })]
      case 'assigned':
      case 'unassigned':
        return [issueNews(issue, act.event, { assignee_id: act.assignee_id })]
      case 'milestoned':
      case 'demilestoned':
        return [issueNews(issue, act.event, { milestone_id: act.milestone_id })]
      default:
        return []
    }
  })
}
