import type { WebhookName } from '#activity/acts.ts'
import { type Queryable, type Sql, sql } from '#platform/database.ts'

/** A hook that subscribes to an event, with what a sender needs to know. */
export interface SubscribedHook {
  id: number
  events: string[]
  url: string
  content_type: 'json' | 'form'
  insecure_ssl: boolean
  secret: Buffer | null
  former_secret: Buffer | null
  former_secret_until: Date | null
  target_id: number
  target_type: 'repository' | 'organization' | 'integration'
  failures: number
  throttled_until: Date | null
}

export const subscribedHookColumns = sql`h.id, h.events, h.url, h.content_type, h.insecure_ssl, h.secret, h.former_secret, h.former_secret_until, h.target_id,
  h.target_type, h.failures, h.throttled_until`

/** The hooks of a repository and of its organization that subscribe to one of the events. */
export function subscribedTo(repo_id: number, wanted: { event: WebhookName }[]): Sql {
  const events = [...new Set(wanted.map(({ event }) => event)), '*']
  return sql`
    select ${subscribedHookColumns} from hooks h
    where h.repo_id = ${repo_id} and h.active and h.deleted_at is null and h.events && ${events}
    union all
    select ${subscribedHookColumns} from repositories r join hooks h on h.org_id = r.owner_id
    where r.id = ${repo_id} and h.active and h.deleted_at is null and h.events && ${events}`
}

export function subscribesTo({ events }: { events: string[] }, event: string) {
  return events.includes(event) || events.includes('*')
}

/** Checked before work that only a payload needs, such as reading commits from git. */
export async function hasSubscribers(db: Queryable, repo: { id: number }, event: WebhookName): Promise<boolean> {
  return (await db.rows(subscribedTo(repo.id, [{ event }]))).length > 0
}
