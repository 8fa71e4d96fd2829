import { storeDeliveries } from '#activity/outbox/outbox.ts'
import type { SubscribedHook } from '#activity/outbox/subscribed-hooks.ts'
import { subscribedHookColumns } from '#activity/outbox/subscribed-hooks.ts'
import { unaddressed as wire } from '#hosting/payloads/payload-context.ts'
import { userJson } from '#hosting/people/json.ts'
import { nodeId } from '#http/serialization.ts'
import type { Person } from '#identity/accounts.ts'
import { installationJson } from '#parts/apps/json.ts'
import { type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import type { Installation } from './installation.ts'

/** A payload names no more repositories than this. */
const most = 10_000

/** What happened to an installation. Its app is sent this without subscribing. */
export async function enqueueInstallationEvent(
  db: Transaction,
  sender: Person,
  installation: Installation,
  action: 'created' | 'deleted' | 'new_permissions_accepted' | 'suspend' | 'unsuspend',
  included: Sql,
  requester: Person | null = null,
) {
  await store(db, installation, 'installation', action, async () => ({
    installation: installationJson(installation, wire),
    repositories: await listNames(db, included),
    // The public schema of `created` leaves it out, of all others it is null.
    ...(requester ? { requester: userJson(requester, wire) } : action !== 'created' && { requester: null }),
    sender: userJson(sender, wire),
  }))
}

/** Repositories that were added to an installation, or removed from it. */
export async function enqueueRepositoriesEvent(
  db: Transaction,
  sender: Person,
  installation: Installation,
  action: 'added' | 'removed',
  repo_ids: number[],
) {
  if (!repo_ids.length) return
  await store(db, installation, 'installation_repositories', action, async () => {
    const repositories = await listNames(db, sql`r.id = any(${repo_ids})`)
    return {
      installation: installationJson(installation, wire),
      repository_selection: installation.all_repositories ? 'all' : 'selected',
      repositories_added: action === 'added' ? repositories : [],
      repositories_removed: action === 'removed' ? repositories : [],
      requester: null,
      sender: userJson(sender, wire),
    }
  })
}

/** The payload is composed only if the app has an active hook. */
async function store(
  db: Transaction,
  { id, app_id }: Installation,
  event: string,
  action: string,
  fieldsOf: () => Promise<object>,
) {
  const hook = await db.first<SubscribedHook>(sql`
    select ${subscribedHookColumns} from hooks h
    where h.app_id = ${app_id} and h.active and h.deleted_at is null and app_is_enabled(h.app_id)`)
  if (!hook) return
  const body = JSON.stringify({ action, ...(await fieldsOf()) })
  await storeDeliveries(db, null, [{ event, action, body, installation_id: id, hooks: [hook] }])
}

interface Named {
  id: number
  name: string
  owner: string
  private: boolean
}

async function listNames(db: Queryable, condition: Sql) {
  const rows = await db.rows<Named>(sql`
    select r.id, r.name, o.login as owner, r.private from repositories r join accounts o on o.id = r.owner_id
    where ${condition} order by r.id limit ${most}`)
  return rows.map(({ id, name, owner, private: hidden }) => ({
    id,
    node_id: nodeId('Repository', id),
    name,
    full_name: `${owner}/${name}`,
    private: hidden,
  }))
}
