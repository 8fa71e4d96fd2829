import { CommentSchema, commentJson } from '#hosting/issues/comments/json.ts'
import type { Issue } from '#hosting/issues/issues.ts'
import { IssueSchema, issueJson } from '#hosting/issues/json.ts'
import { NullableUser } from '#hosting/milestones/json.ts'
import { userJson } from '#hosting/people/json.ts'
import { ReviewSchema, timelineReviewJson } from '#hosting/reviews/json.ts'
import { TeamSchema, teamJson } from '#hosting/teams/json.ts'
import { Address, NullableString, nodeId, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import type { Person } from '#identity/accounts.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { IssueEvent } from './events.ts'
import type { TimelineEntry } from './timelines.ts'

const fields = {
  id: Type.Integer(),
  node_id: Type.String(),
  url: Address,
  actor: NullableUser,
  event: Type.String(),
  commit_id: NullableString,
  commit_url: NullableString,
  created_at: Timestamp,
  label: Type.Optional(Type.Object({ name: NullableString, color: NullableString })),
  assignee: Type.Optional(NullableUser),
  assigner: Type.Optional(NullableUser),
  review_requester: Type.Optional(NullableUser),
  requested_reviewer: Type.Optional(NullableUser),
  requested_team: Type.Optional(TeamSchema),
  milestone: Type.Optional(Type.Object({ title: Type.String() })),
  rename: Type.Optional(Type.Object({ from: Type.String(), to: Type.String() })),
  state_reason: Type.Optional(NullableString),
  lock_reason: Type.Optional(NullableString),
  performed_via_github_app: Type.Null(),
}

export const IssueEventSchema = Type.Object(fields, { title: 'IssueEventForIssue' })
export const RepositoryIssueEventSchema = Type.Object({ ...fields, issue: IssueSchema }, { title: 'IssueEvent' })

type NamedRepository = { owner_login: string; name: string }

/** The documentation requires an actor in lists of one issue. A deleted account is shown as this user. */
const ghost: Person = { id: 0, type: 'User', login: 'ghost', site_admin: false }

export function issueEventJson(
  event: IssueEvent,
  repo: NamedRepository,
  wire: Wire,
  nobody: Person | null = ghost,
): Static<typeof IssueEventSchema> {
  const url = `${wire.api}/repos/${repo.owner_login}/${repo.name}`
  const shown = (person: Person | null) => {
    const who = person ?? nobody
    return who && userJson(who, wire)
  }
  const actor = shown(event.actor)
  const { label_name, label_color, milestone_title, renamed_from, renamed_to, requested_reviewer, requested_team } = event
  return {
    id: event.id,
    node_id: nodeId('IssueEvent', event.id),
    url: `${url}/issues/events/${event.id}`,
    actor,
    event: event.event,
    commit_id: event.commit_id,
    commit_url: event.commit_id && `${url}/commits/${event.commit_id}`,
    created_at: timestamp(event.created_at),
    ...(label_name !== null && { label: { name: label_name, color: label_color } }),
    ...(event.event.endsWith('assigned') && { assignee: shown(event.assignee), assigner: actor }),
    ...(event.event.startsWith('review_request') && {
      review_requester: actor,
      ...(requested_reviewer && { requested_reviewer: userJson(requested_reviewer, wire) }),
      ...(requested_team && { requested_team: teamJson(requested_team, wire) }),
    }),
    ...(milestone_title !== null && { milestone: { title: milestone_title } }),
    ...(renamed_from !== null && renamed_to !== null && { rename: { from: renamed_from, to: renamed_to } }),
    ...(['closed', 'reopened'].includes(event.event) && { state_reason: event.state_reason }),
    ...(event.event.endsWith('locked') && { lock_reason: event.lock_reason }),
    performed_via_github_app: null,
  }
}

export function repositoryIssueEventJson(
  event: IssueEvent,
  issue: Issue,
  repo: NamedRepository,
  wire: Wire,
): Static<typeof RepositoryIssueEventSchema> {
  return { ...issueEventJson(event, repo, wire, null), issue: issueJson(issue, repo, wire) }
}

/** One of three kinds, distinguished by `event`: a comment, a review, or a history event. */
export const TimelineEventSchema = Type.Object(
  {
    ...Type.Partial(Type.Object({ ...CommentSchema.properties, ...ReviewSchema.properties, ...fields })).properties,
    id: Type.Integer(),
    node_id: Type.String(),
    event: Type.String(),
  },
  { title: 'TimelineIssueEvent' },
)

export function timelineEventJson(
  { kind, row }: TimelineEntry,
  repo: NamedRepository,
  wire: Wire,
): Static<typeof TimelineEventSchema> {
  if (kind === 'event') return issueEventJson(row, repo, wire)
  const user = userJson(row.author ?? ghost, wire)
  if (kind === 'review') return { event: 'reviewed', ...timelineReviewJson(row, repo, wire), user }
  return { event: 'commented', actor: user, ...commentJson(row, repo, wire), user }
}
