import { unaddressed as wire } from '#activity/outbox/addresses.ts'
import { commentJson } from '#hosting/issues/comments/json.ts'
import { issueJson } from '#hosting/issues/json.ts'
import { labelJson } from '#hosting/labels/json.ts'
import { milestoneJson } from '#hosting/milestones/json.ts'
import { userJson } from '#hosting/people/json.ts'
import type { News, Sorted } from './news.ts'
import { named, type Scene } from './payload-context.ts'

type Payload<Event extends News['event']> = Extract<News, { event: Event }>['payload']

export function issueFields({ action, issue_id, ...sorted }: Payload<'issues'>, scene: Scene) {
  const issue = toldIssueJson(issue_id, scene)
  // Before it gets another milestone it has none, and receivers count on that.
  const between = action === 'demilestoned' && { milestone: null }
  return { action, issue: { ...issue, ...between }, ...sortedFields(sorted, scene) }
}

function toldIssueJson(issue_id: number, { repo, mentioned }: Scene) {
  const issue = issueJson(named(mentioned.issues, issue_id), repo, wire)
  return { ...issue, reactions: noReactions(issue.url) }
}

/** Nobody reacts here, and receivers count on being told so. */
export function noReactions(url: string) {
  const counts = { '+1': 0, '-1': 0, laugh: 0, hooray: 0, confused: 0, heart: 0, rocket: 0, eyes: 0 }
  return { url: `${url}/reactions`, total_count: 0, ...counts }
}

/** What an act put on an issue or a pull request, or took off. */
export function sortedFields({ label_id, assignee_id, milestone_id, changes }: Sorted, { repo, mentioned }: Scene) {
  return {
    ...(label_id !== undefined && { label: labelJson(named(mentioned.labels, label_id), repo, wire) }),
    ...(assignee_id !== undefined && { assignee: userJson(named(mentioned.people, assignee_id), wire) }),
    ...(milestone_id !== undefined && { milestone: milestoneJson(named(mentioned.milestones, milestone_id), repo, wire) }),
    ...(changes && { changes }),
  }
}

export function commentFields({ issue_id, comment_id, ...rest }: Payload<'issue_comment'>, scene: Scene) {
  const comment = commentJson(named(scene.mentioned.comments, comment_id), scene.repo, wire)
  return {
    ...rest,
    issue: toldIssueJson(issue_id, scene),
    comment: { ...comment, reactions: noReactions(comment.url) },
  }
}
