import type { Act, EventType } from '#activity/events.ts'
import type { News, PushNews } from '#hosting/payloads/news.ts'
import { timestamp } from '#http/serialization.ts'
import { type Sql, sql } from '#platform/database.ts'

/** What somebody did, as the log has it. */
export type Logged = Act & { id: number; repo_id: number; actor_id: number; created_at: Date }

/** Which webhooks tell of what the log has. */
const webhooks: Record<EventType, News['event'][]> = {
  CreateEvent: ['create', 'repository'],
  DeleteEvent: ['delete'],
  PushEvent: ['push'],
  ForkEvent: ['fork'],
  WatchEvent: ['watch', 'star'],
  PublicEvent: ['public', 'repository'],
  MemberEvent: ['member'],
  ReleaseEvent: ['release'],
  IssuesEvent: ['issues'],
  PullRequestEvent: ['pull_request'],
  IssueCommentEvent: ['issue_comment'],
  PullRequestReviewEvent: ['pull_request_review'],
  PullRequestReviewCommentEvent: ['pull_request_review_comment'],
  CommitCommentEvent: ['commit_comment'],
}

export const hears = (events: string[], event: string) => events.includes(event) || events.includes('*')

/** A condition over the log's event `e`: webhooks of these names tell of it. */
export function toldBy(events: string[]): Sql {
  const types = Object.entries(webhooks).filter(([, names]) => names.some((name) => hears(events, name)))
  const made = [...(hears(events, 'create') ? ['branch', 'tag'] : []), ...(hears(events, 'repository') ? ['repository'] : [])]
  return sql`e.type = any(${types.map(([type]) => type)}::text[])
    and (e.type <> 'CreateEvent' or e.payload->>'ref_type' = any(${made}::text[]))`
}

/** All that webhooks tell of an act. Of a push the log has too little, so it is read from the repository. */
export function newsOf(logged: Logged, push: PushNews | undefined): News[] {
  const { type, payload } = logged
  switch (type) {
    case 'CreateEvent': {
      const { ref, ref_type } = payload
      if (ref === null || ref_type === 'repository') return [{ event: 'repository', payload: { action: 'created' } }]
      return [{ event: 'create', payload: { ref, ref_type } }]
    }
    case 'DeleteEvent':
      return [{ event: 'delete', payload }]
    case 'PushEvent':
      return push ? [{ event: 'push', payload: push }] : []
    case 'ForkEvent':
      return [{ event: 'fork', payload }]
    case 'WatchEvent':
      return [
        { event: 'watch', payload },
        { event: 'star', payload: { action: 'created', starred_at: timestamp(logged.created_at) } },
      ]
    case 'PublicEvent':
      return [
        { event: 'public', payload },
        { event: 'repository', payload: { action: 'publicized' } },
      ]
    case 'MemberEvent':
      return [{ event: 'member', payload }]
    case 'ReleaseEvent':
      return [{ event: 'release', payload }]
    case 'IssuesEvent':
      return [{ event: 'issues', payload }]
    case 'PullRequestEvent': {
      const { merged: _, ...rest } = { merged: undefined, ...payload }
      return [{ event: 'pull_request', payload: rest }]
    }
    case 'IssueCommentEvent':
      return [{ event: 'issue_comment', payload }]
    case 'PullRequestReviewEvent':
      return [{ event: 'pull_request_review', payload: { ...payload, action: 'submitted' } }]
    case 'PullRequestReviewCommentEvent':
      return [{ event: 'pull_request_review_comment', payload }]
    case 'CommitCommentEvent':
      return [{ event: 'commit_comment', payload }]
  }
}
