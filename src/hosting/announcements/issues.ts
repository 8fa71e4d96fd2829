import { commentJson } from '#hosting/issues/comments/json.ts'
import { issueJson } from '#hosting/issues/json.ts'
import { labelJson } from '#hosting/labels/json.ts'
import { milestoneJson } from '#hosting/milestones/json.ts'
import { userJson } from '#hosting/people/json.ts'
import { unaddressed as wire } from './addresses.ts'
import type { News, Sorted } from './news.ts'
import { named, type Scene } from './scene.ts'

type Payload<Event extends News['event']> = Extract<News, { event: Event }>['payload']

export function issueFields({ action, issue_id, ...sorted }: Payload<'issues'>, scene: Scene) {
  const issue = named(scene.mentioned.issues, issue_id)
  return { action, issue: issueJson(issue, scene.repo, wire), ...sortedFields(sorted, scene) }
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

export function commentFields({ issue_id, comment_id, ...rest }: Payload<'issue_comment'>, { repo, mentioned }: Scene) {
  return {
    ...rest,
    issue: issueJson(named(mentioned.issues, issue_id), repo, wire),
    comment: commentJson(named(mentioned.comments, comment_id), repo, wire),
  }
}
