import type { Facts } from '#activity/facts.ts'
import { commentJson } from '#hosting/issues/comments/json.ts'
import { issueJson } from '#hosting/issues/json.ts'
import { labelJson } from '#hosting/labels/json.ts'
import { milestoneJson } from '#hosting/milestones/json.ts'
import { userJson } from '#hosting/people/json.ts'
import { mustGet, type PayloadContext, unaddressed as wire } from './payload-context.ts'

export function issuePayload(facts: Partial<Facts>, context: PayloadContext, action: string | null) {
  const issue = deliveredIssueJson(facts, context)
  // Receivers expect no milestone here, even if the issue got another one at the same time.
  return { issue: { ...issue, ...(action === 'demilestoned' && { milestone: null }) }, ...triageFields(facts, context) }
}

function deliveredIssueJson({ issue_id }: Partial<Facts>, { repo, records }: PayloadContext) {
  return issueJson(mustGet(records.issues, issue_id), repo, wire)
}

/** What an act added to an issue or a pull request, removed from it or changed. */
export function triageFields(facts: Partial<Facts>, { repo, records }: PayloadContext) {
  const { label_id, assignee_id, milestone_id, changes } = facts
  return {
    ...(label_id !== undefined && { label: labelJson(mustGet(records.labels, label_id), repo, wire) }),
    ...(assignee_id !== undefined && { assignee: userJson(mustGet(records.accounts, assignee_id), wire) }),
    ...(milestone_id !== undefined && { milestone: milestoneJson(mustGet(records.milestones, milestone_id), repo, wire) }),
    ...(changes && { changes }),
  }
}

export function issueCommentPayload(facts: Partial<Facts>, context: PayloadContext) {
  const { comment_id, changes } = facts
  return {
    ...(changes && { changes }),
    issue: deliveredIssueJson(facts, context),
    comment: commentJson(mustGet(context.records.comments, comment_id), context.repo, wire),
  }
}
