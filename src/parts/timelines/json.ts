import { commitCommentJson } from '#hosting/commit-comments/json.ts'
import { commentJson } from '#hosting/issues/comments/json.ts'
import { issueJson } from '#hosting/issues/json.ts'
import { labelJson } from '#hosting/labels/json.ts'
import type { Mentioned } from '#hosting/mentioned.ts'
import { userJson } from '#hosting/people/json.ts'
import { fullPullJson, minimalPullJson } from '#hosting/pulls/json.ts'
import { releaseJson } from '#hosting/releases/json.ts'
import { repositoryJson } from '#hosting/repositories/json.ts'
import { toldCommentJson } from '#hosting/reviews/comments/json.ts'
import { toldReviewJson } from '#hosting/reviews/json.ts'
import { Address, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Variant } from '#variants.ts'
import type { TimelineEvent } from './timelines.ts'

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

/** How events are written: for which variant, with which addresses, and what they mention. */
export interface Pen {
  wire: Wire
  variant: Variant
  mentioned: Mentioned
}

export function eventJson(event: TimelineEvent, pen: Pen): Static<typeof EventSchema> {
  const { api, web } = pen.wire
  const { actor_id, actor_login, owner_id, owner_login } = event
  const name = `${owner_login}/${event.repo_name}`
  return {
    id: String(event.id),
    type: event.type,
    actor: {
      id: actor_id,
      login: actor_login,
      display_login: actor_login,
      gravatar_id: '',
      url: `${api}/users/${actor_login}`,
      avatar_url: `${web}/avatars/${actor_id}`,
    },
    repo: { id: event.repo_id, name, url: `${api}/repos/${name}` },
    payload: payloadJson(event, pen),
    public: event.public,
    created_at: timestamp(event.created_at),
    ...(event.owner_type === 'Organization' && {
      org: {
        id: owner_id,
        login: owner_login,
        gravatar_id: '',
        url: `${api}/orgs/${owner_login}`,
        avatar_url: `${web}/avatars/${owner_id}`,
      },
    }),
  }
}

function payloadJson(event: TimelineEvent, { wire, variant, mentioned }: Pen): object {
  const repo = { owner_login: event.owner_login, name: event.repo_name }
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
    case 'PushEvent': {
      const { push_id, ref, head, before, size, distinct_size, commits } = event.payload
      const url = `${wire.api}/repos/${event.owner_login}/${event.repo_name}/commits`
      return {
        repository_id: event.repo_id,
        push_id,
        ref,
        head,
        before,
        ...(variant.events.lists_commits && {
          size,
          distinct_size,
          commits: commits.map(({ sha, message, author, distinct }) => ({
            sha,
            author,
            message,
            distinct,
            url: `${url}/${sha}`,
          })),
        }),
      }
    }
    case 'ForkEvent': {
      const forkee = mentioned.repositories.get(event.payload.forkee_id)
      return { action: 'forked', forkee: forkee && { ...repositoryJson(forkee, wire, false), public: !forkee.private } }
    }
    case 'MemberEvent': {
      const member = mentioned.people.get(event.payload.member_id)
      return { action: event.payload.action, member: member && userJson(member, wire) }
    }
    case 'ReleaseEvent': {
      const release = mentioned.releases.get(event.payload.release_id)
      return { action: event.payload.action, release: release && releaseJson(release, repo, wire) }
    }
    case 'IssuesEvent': {
      const { action, issue_id } = event.payload
      const issue = mentioned.issues.get(issue_id)
      const assignee = 'assignee_id' in event.payload && mentioned.people.get(event.payload.assignee_id)
      const label = 'label_id' in event.payload && mentioned.labels.get(event.payload.label_id)
      return {
        action,
        issue: issue && issueJson(issue, repo, wire),
        ...(assignee && { assignee: userJson(assignee, wire) }),
        ...(label && { label: labelJson(label, repo, wire) }),
      }
    }
    case 'PullRequestEvent': {
      const { action, pull_id } = event.payload
      const merged = 'merged' in event.payload && event.payload.merged && !variant.events.whole_pulls
      const assignee = 'assignee_id' in event.payload && mentioned.people.get(event.payload.assignee_id)
      const label = 'label_id' in event.payload && mentioned.labels.get(event.payload.label_id)
      return {
        action: merged ? 'merged' : action,
        number: mentioned.pulls.get(pull_id)?.number,
        pull_request: pullRequest(event, pull_id, { wire, variant, mentioned }),
        ...(assignee && { assignee: userJson(assignee, wire) }),
        ...(label && { label: labelJson(label, repo, wire) }),
      }
    }
    case 'IssueCommentEvent': {
      const { action, issue_id, comment_id } = event.payload
      const issue = mentioned.issues.get(issue_id)
      const comment = mentioned.comments.get(comment_id)
      return {
        action,
        issue: issue && issueJson(issue, repo, wire),
        comment: comment && commentJson(comment, repo, wire),
      }
    }
    case 'PullRequestReviewEvent': {
      const { action, pull_id, review_id } = event.payload
      const review = mentioned.reviews.get(review_id)
      return {
        action,
        review: review && toldReviewJson(review, repo, wire),
        pull_request: pullRequest(event, pull_id, { wire, variant, mentioned }),
      }
    }
    case 'PullRequestReviewCommentEvent': {
      const { action, pull_id, review_comment_id } = event.payload
      const comment = mentioned.review_comments.get(review_comment_id)
      return {
        action,
        comment: comment && toldCommentJson(comment, repo, wire),
        pull_request: pullRequest(event, pull_id, { wire, variant, mentioned }),
      }
    }
    case 'CommitCommentEvent': {
      const comment = mentioned.commit_comments.get(event.payload.commit_comment_id)
      return { action: event.payload.action, comment: comment && commitCommentJson(comment, repo, wire) }
    }
    case 'WatchEvent':
    case 'PublicEvent':
      return event.payload
  }
}

function pullRequest({ repo_id }: TimelineEvent, pull_id: number, { wire, variant, mentioned }: Pen) {
  const [pull, repo] = [mentioned.pulls.get(pull_id), mentioned.repositories.get(repo_id)]
  if (!pull || !repo) return undefined
  return variant.events.whole_pulls ? fullPullJson(pull, repo, wire) : minimalPullJson(pull, repo, wire)
}

/** A repository is made with its first branch in mind. */
function fullRef(name: string, ref_type: 'repository' | 'branch' | 'tag') {
  return `${ref_type === 'tag' ? 'refs/tags' : 'refs/heads'}/${name}`
}
