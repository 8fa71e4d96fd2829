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
  /** For the hook of an app: its installation on the repository. */
  installation_id?: number | null
}

const columns = (
  events: Sql,
) => sql`h.id, ${events} as events, h.url, h.content_type, h.insecure_ssl, h.secret, h.former_secret, h.former_secret_until, h.target_id,
  h.target_type, h.failures, h.throttled_until`
export const subscribedHookColumns = columns(sql`h.events`)

/**
 * Of hooks that `publish_acts` found. The hook of an app subscribes to what its installation on the repository has accepted. Hooks of the owner
 * get nothing of a private fork whose parent the owner may not read.
 */
export const foundHooks = (found: Sql, repo_id: number) => sql`
  select ${columns(sql`coalesce(i.events, h.events)`)}, i.id as installation_id
  from ${found} h left join repositories r on h.repo_id is null and r.id = ${repo_id}
    left join installations i on i.app_id = h.app_id and i.account_id = r.owner_id
  where r.id is null or owner_reaches(r)`

/** A condition: the hook `h` of an app gets events of the installation `i`. */
export const isServed = sql`i.suspended_at is null and h.active and h.deleted_at is null and app_is_enabled(i.app_id)`

/** The hooks of a repository, of its organization, and of apps that are installed on it, which subscribe to one of the events. */
export function subscribedTo(repo_id: number | Sql, wanted: { event: WebhookName }[]): Sql {
  const events = [...new Set(wanted.map(({ event }) => event)), '*']
  return sql`
    select ${subscribedHookColumns} from hooks h
    where h.repo_id = ${repo_id} and h.active and h.deleted_at is null and h.events && ${events}
    union all
    select ${subscribedHookColumns} from repositories r join hooks h on h.org_id = r.owner_id
    where r.id = ${repo_id} and h.active and h.deleted_at is null and h.events && ${events}
    union all
    select ${subscribedHookColumns} from repositories r join installations i on i.account_id = r.owner_id join hooks h on h.app_id = i.app_id
    where r.id = ${repo_id} and i.events && ${events} and ${isServed}
      and (i.all_repositories or exists (
        select from installation_repositories l where l.installation_id = i.id and l.repo_id = r.id))`
}

/** A hook that subscribes to an event of an organization. */
export interface OrganizationSubscriber extends SubscribedHook {
  /** The repositories that the hook may know, of those that the events show; null: all of them. */
  repo_ids: number[] | null
}

/**
 * The hooks of an organization, of apps that are installed on it, and of the repositories that the events show, which subscribe to one of
 * the events.
 */
export function subscribedInOrganization(org_id: number, wanted: { event: string }[], repo_ids: number[]): Sql {
  const events = [...new Set(wanted.map(({ event }) => event)), '*']
  const known = sql`select l.repo_id from installation_repositories l where l.installation_id = i.id and l.repo_id = any(${repo_ids}::bigint[])`
  return sql`
    select ${subscribedHookColumns}, null::bigint as installation_id, null::json as repo_ids from hooks h
    where h.org_id = ${org_id} and h.active and h.deleted_at is null and h.events && ${events}
    union all
    select ${columns(sql`i.events`)}, i.id, case when not i.all_repositories then to_json(array(${known})) end
    from installations i join hooks h on h.app_id = i.app_id
    where i.account_id = ${org_id} and i.events && ${events} and ${isServed}
    union all
    select ${subscribedHookColumns}, null, json_build_array(h.repo_id) from hooks h
    where h.repo_id = any(${repo_ids}::bigint[]) and h.active and h.deleted_at is null and h.events && ${events}`
}

export function subscribesTo({ events }: { events: string[] }, event: string) {
  return events.includes(event) || events.includes('*')
}

/** Checked before work that only a payload needs, such as reading commits from git. */
export async function hasSubscribers(db: Queryable, repo: { id: number }, event: WebhookName): Promise<boolean> {
  return (await db.rows(subscribedTo(repo.id, [{ event }]))).length > 0
}
