import type { Push } from '#activity/facts.ts'
import { commitCommentJson } from '#hosting/commit-comments/json.ts'
import { commentJson } from '#hosting/issues/comments/json.ts'
import { issueJson } from '#hosting/issues/json.ts'
import { labelJson } from '#hosting/labels/json.ts'
import { userJson } from '#hosting/people/json.ts'
import { fullPullJson, minimalPullJson } from '#hosting/pulls/json.ts'
import { releaseJson } from '#hosting/releases/json.ts'
import { repositoryJson } from '#hosting/repositories/json.ts'
import { timelineCommentJson } from '#hosting/reviews/comments/json.ts'
import { timelineReviewJson } from '#hosting/reviews/json.ts'
import { Address, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Variant } from '#variants.ts'
import type { TimelineEvent } from './event-rows.ts'
import type { EventRecord } from './records.ts'

const who = { id: Type.Integer(), login: Type.String(), gravatar_id: Type.String(), url: Address, avatar_url: Address }

export const EventSchema = Type.Object(
  {
    id: Type.String(),
    type: Type.String(),
    actor: Type.Object({ ...who, display_login: Type.String() }),
    repo: Type.Object({ id: Type.Integer(), name: Type.String(), url: Address }),
    payload: Type.Unsafe<object>({ type: 'object', additionalProperties: true }),
    public: Type.Boolean(),
    created_at: Timestamp,
    org: Type.Optional(Type.Object(who)),
  },
  { title: 'Event' },
)

export function eventJson(record: EventRecord, wire: Wire, variant: Variant): Static<typeof EventSchema> {
  const { event } = record
  const { actor_id, actor_login, owner_id, owner_login } = event
  const name = `${owner_login}/${event.repo_name}`
  return {
    id: String(event.id),
    type: event.type,
    actor: { ...accountJson(actor_id, actor_login, 'users', wire), display_login: actor_login },
    repo: { id: event.repo_id, name, url: `${wire.api}/repos/${name}` },
    payload: payloadJson(record, wire, variant),
    public: event.public,
    created_at: timestamp(event.created_at),
    ...(event.owner_type === 'Organization' && { org: accountJson(owner_id, owner_login, 'orgs', wire) }),
  }
}

function accountJson(id: number, login: string, path: 'users' | 'orgs', { api, web }: Wire) {
  return { id, login, gravatar_id: '', url: `${api}/${path}/${login}`, avatar_url: `${web}/avatars/${id}` }
}

function payloadJson(record: EventRecord, wire: Wire, variant: Variant): object {
  const { event, issue, label, assignee, comment, review, review_comment, commit_comment, release, member, forkee } = record
  const repo = { owner_login: event.owner_login, name: event.repo_name }
  const changed = {
    ...(assignee && { assignee: userJson(assignee, wire) }),
    ...(label && { label: labelJson(label, repo, wire) }),
  }
  switch (event.type) {
    case 'CreateEvent': {
      const { ref_type, master_branch, description } = event.payload
      const ref = event.payload.ref ?? master_branch
      return { ref, ref_type, full_ref: fullRef(ref, ref_type), master_branch, description, pusher_type: 'user' }
    }
    case 'DeleteEvent': {
      const { ref, ref_type } = event.payload
      return { ref, ref_type, full_ref: fullRef(ref, ref_type), pusher_type: 'user' }
    }
    case 'PushEvent':
      return pushJson(event.payload, event, wire, variant)
    case 'ForkEvent':
      return { action: 'forked', forkee: forkee && { ...repositoryJson(forkee, wire, false), public: !forkee.private } }
    case 'MemberEvent':
      return { action: event.payload.action, member: member && userJson(member, wire) }
    case 'ReleaseEvent':
      return { action: event.payload.action, release: release && releaseJson(release, repo, wire) }
    case 'IssuesEvent':
      return { action: event.payload.action, issue: issue && issueJson(issue, repo, wire), ...changed }
    case 'PullRequestEvent': {
      const merged = 'merged' in event.payload && event.payload.merged && !variant.events.whole_pulls
      return {
        action: merged ? 'merged' : event.payload.action,
        number: record.pull?.number,
        pull_request: pullJson(record, wire, variant),
        ...changed,
      }
    }
    case 'IssueCommentEvent':
      return {
        action: event.payload.action,
        issue: issue && issueJson(issue, repo, wire),
        comment: comment && commentJson(comment, repo, wire),
      }
    case 'PullRequestReviewEvent':
      return {
        action: event.payload.action,
        review: review && timelineReviewJson(review, repo, wire),
        pull_request: pullJson(record, wire, variant),
      }
    case 'PullRequestReviewCommentEvent':
      return {
        action: event.payload.action,
        comment: review_comment && timelineCommentJson(review_comment, repo, wire),
        pull_request: pullJson(record, wire, variant),
      }
    case 'CommitCommentEvent':
      return { action: event.payload.action, comment: commit_comment && commitCommentJson(commit_comment, repo, wire) }
    case 'WatchEvent':
    case 'PublicEvent':
      return event.payload
  }
}

function pushJson(push: Push, { repo_id, owner_login, repo_name }: TimelineEvent, { api }: Wire, { events }: Variant) {
  const { push_id, ref, head, before, size, distinct_size } = push
  const url = `${api}/repos/${owner_login}/${repo_name}/commits`
  const commits = push.commits.map(({ sha, message, author, distinct }) => ({
    ...{ sha, author, message, distinct },
    url: `${url}/${sha}`,
  }))
  return { repository_id: repo_id, push_id, ref, head, before, ...(events.lists_commits && { size, distinct_size, commits }) }
}

function pullJson({ pull, base }: EventRecord, wire: Wire, { events }: Variant) {
  if (!pull || !base) return undefined
  return events.whole_pulls ? fullPullJson(pull, base, wire) : minimalPullJson(pull, base, wire)
}

/** A new repository has the name of its default branch as `ref`. */
function fullRef(name: string, ref_type: 'repository' | 'branch' | 'tag') {
  return `${ref_type === 'tag' ? 'refs/tags' : 'refs/heads'}/${name}`
}
