import type { Act } from '#activity/events.ts'
import type { Notice, Subject } from '#activity/notices.ts'

/** What people are told about when something happens to an issue, or a pull request. */
export function subjectOf({ id, pull_id }: { id: number; pull_id: number | null }): Subject {
  return { type: pull_id === null ? 'Issue' : 'PullRequest', issue_id: id }
}

/** Those whom acts assigned. */
export function assignedBy(acts: Act[]): number[] {
  return acts.flatMap(({ payload }) =>
    'action' in payload && payload.action === 'assigned' && 'assignee_id' in payload ? payload.assignee_id : [],
  )
}

/** Of all that sorting does, only being assigned is told. */
export function noticesOf(acts: Act[]): Notice[] {
  const people = assignedBy(acts)
  return people.length ? [{ act: 'assigned', people }] : []
}

/** What was changed is told to those who are mentioned in it now. */
export function editOf(body: string | null, body_before: string | null, said?: Notice['said']): Notice[] {
  return body === body_before ? [] : [{ act: 'edited', body, body_before, ...(said && { said }) }]
}
