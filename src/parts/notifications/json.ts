import { NullableUser } from '#hosting/milestones/json.ts'
import { userJson } from '#hosting/people/json.ts'
import { MinimalRepository, minimalRepositoryJson } from '#hosting/repositories/json.ts'
import type { RepositoryName } from '#hosting/repositories/repositories.ts'
import { Address, NullableString, NullableTimestamp, specified, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import { ruleOf, type ThreadReason } from './reasons.ts'
import type { ThreadSubscription } from './thread-subscription.ts'
import type { Thread } from './threads.ts'

export const ThreadSchema = Type.Object(
  {
    id: Type.String(),
    repository: MinimalRepository,
    subject: Type.Object({
      title: Type.String(),
      url: Type.String(),
      latest_comment_url: Type.String(),
      type: Type.String(),
      state: NullableString,
      html_url: Type.String(),
    }),
    reason: Type.String(),
    unread: Type.Boolean(),
    done: Type.Boolean(),
    updated_at: Timestamp,
    last_read_at: NullableTimestamp,
    url: Address,
    subscription_url: Address,
  },
  { title: 'Thread' },
)

export const threadJson = (thread: Thread, wire: Wire) => describe(thread, threadRepositoryJson(thread.repo, wire), wire)

function threadRepositoryJson(repo: RepositoryName, wire: Wire): Static<typeof MinimalRepository> {
  return { ...minimalRepositoryJson(repo, wire), description: specified(repo.description, '', wire) }
}

/** Threads of one repository share its JSON. */
export function threadsJson(threads: Thread[], wire: Wire): Static<typeof ThreadSchema>[] {
  const written = new Map<RepositoryName, Static<typeof MinimalRepository>>()
  return threads.map((thread) => {
    let repository = written.get(thread.repo)
    if (!repository) {
      repository = threadRepositoryJson(thread.repo, wire)
      written.set(thread.repo, repository)
    }
    return describe(thread, repository, wire)
  })
}

function describe(thread: Thread, repository: Static<typeof MinimalRepository>, wire: Wire): Static<typeof ThreadSchema> {
  const { repo } = thread
  const full_name = `${repo.owner_login}/${repo.name}`
  const api = `${wire.api}/repos/${full_name}`
  const { url, html_url } = addressesOf(thread, wire, full_name)
  const thread_url = `${wire.api}/notifications/threads/${thread.id}`
  return {
    id: String(thread.id),
    repository,
    subject: {
      title: titleOf(thread, full_name),
      url,
      latest_comment_url: commentUrl(api, thread.number, thread.latest_type, thread.latest_id) ?? url,
      type: thread.type,
      state: thread.state,
      html_url,
    },
    reason: thread.reason,
    unread: thread.unread,
    done: thread.done,
    updated_at: timestamp(thread.updated_at),
    last_read_at: specified(thread.last_read_at && timestamp(thread.last_read_at), neverRead, wire),
    url: thread_url,
    subscription_url: `${thread_url}/subscription`,
  }
}

/** Earlier than every update, so that a comparison with `updated_at` is right. */
const neverRead = '1970-01-01T00:00:00Z'

/** Invitations and transfers have no title of their own. */
export function titleOf({ title, type }: Pick<Thread, 'title' | 'type'>, full_name: string) {
  return title ?? `${type === 'RepositoryTransfer' ? 'Transfer of' : 'Invitation to join'} ${full_name}`
}

/** The addresses of a subject in the API and on the web. */
export function addressesOf(
  { type, number, commit_id, release_id, tag_name, invitation_id, transfer_id, hook_id, hook_org }: Thread,
  wire: Pick<Wire, 'api' | 'web'>,
  full_name: string,
) {
  const [api, web] = [`${wire.api}/repos/${full_name}`, `${wire.web}/${full_name}`]
  switch (type) {
    case 'Issue':
      return { url: `${api}/issues/${number}`, html_url: `${web}/issues/${number}` }
    case 'PullRequest':
      return { url: `${api}/pulls/${number}`, html_url: `${web}/pull/${number}` }
    case 'Commit':
      return { url: `${api}/commits/${commit_id}`, html_url: `${web}/commit/${commit_id}` }
    case 'Release':
      return { url: `${api}/releases/${release_id}`, html_url: `${web}/releases/tag/${encodeURIComponent(tag_name ?? '')}` }
    case 'RepositoryInvitation':
      return { url: `${wire.api}/user/repository_invitations/${invitation_id}`, html_url: `${web}/invitations` }
    case 'RepositoryTransfer':
      return { url: `${wire.api}/user/repository_transfers/${transfer_id}`, html_url: `${web}/transfer` }
    case 'Webhook':
      return hook_org === null
        ? { url: `${api}/hooks/${hook_id}`, html_url: `${web}/settings/hooks/${hook_id}` }
        : {
            url: `${wire.api}/orgs/${hook_org}/hooks/${hook_id}`,
            html_url: `${wire.web}/organizations/${hook_org}/settings/hooks/${hook_id}`,
          }
    case 'RepositoryImport':
      // Not the import itself: it takes the right to import and a classic token, and the operator or the variant may close imports.
      return { url: api, html_url: web }
  }
}

function commentUrl(api: string, number: number | null, type: Thread['latest_type'], id: number | null) {
  if (type === null || id === null) return null
  return {
    IssueComment: `${api}/issues/comments/${id}`,
    PullRequestReview: `${api}/pulls/${number}/reviews/${id}`,
    PullRequestReviewComment: `${api}/pulls/comments/${id}`,
    CommitComment: `${api}/comments/${id}`,
  }[type]
}

export const ThreadSubscriptionSchema = Type.Object(
  {
    subscribed: Type.Boolean(),
    ignored: Type.Boolean(),
    reason: NullableString,
    created_at: Timestamp,
    url: Address,
    thread_url: Address,
  },
  { title: 'ThreadSubscription' },
)

export function threadSubscriptionJson(
  { subscribed, ignored, reason, created_at }: ThreadSubscription,
  thread: { id: number },
  wire: Wire,
): Static<typeof ThreadSubscriptionSchema> {
  const thread_url = `${wire.api}/notifications/threads/${thread.id}`
  return {
    subscribed,
    ignored,
    reason: subscribed ? reason : null,
    created_at: timestamp(created_at),
    url: `${thread_url}/subscription`,
    thread_url,
  }
}

export const ThreadReasonSchema = Type.Object(
  {
    reason: Type.String(),
    rule: Type.String(),
    act: Type.String(),
    actor: NullableUser,
    url: Type.String(),
    created_at: Timestamp,
  },
  { title: 'ThreadReason' },
)

export function threadReasonJson(item: ThreadReason, thread: Thread, wire: Wire): Static<typeof ThreadReasonSchema> {
  const full_name = `${thread.repo.owner_login}/${thread.repo.name}`
  const comment_url = commentUrl(`${wire.api}/repos/${full_name}`, thread.number, item.comment_type, item.comment_id)
  return {
    reason: item.reason,
    rule: ruleOf(item.reason, thread),
    act: item.act,
    actor: item.actor && userJson(item.actor, wire),
    url: comment_url ?? addressesOf(thread, wire, full_name).url,
    created_at: timestamp(item.created_at),
  }
}
