import { storeDeliveries } from '#activity/outbox/outbox.ts'
import { simpleOrganizationJson } from '#hosting/organizations/json.ts'
import { unaddressed as wire } from '#hosting/payloads/payload-context.ts'
import { deliveredRepositoryJson } from '#hosting/payloads/repository-payload.ts'
import { userJson } from '#hosting/people/json.ts'
import { readRepositories } from '#hosting/repositories/repositories.ts'
import { type Account, accountColumns } from '#identity/accounts.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import type { HookTarget } from './hook-target.ts'
import type { Hook } from './hooks.ts'
import { hookJson } from './json.ts'
import { clearThrottle } from './throttling.ts'

const sentences = [
  'Deliver at least once, record exactly once.',
  'Say what happened, then what to do.',
  'Sign what you send.',
  'Retry with patience.',
  'Small parts, clearly named.',
  'A short response in time beats a long one late.',
]

/** Ignores the hook's subscriptions, a throttle and an inactive state, because a user asks for the ping. */
export async function pingHook(db: Transaction, sender: Account, target: HookTarget, hook: Hook) {
  const body = await pingBody(db, target, hook)
  await store(db, sender, target, await clearThrottle(db, hook), { event: 'ping', action: null, body })
}

export const zenOf = (db: Queryable, { id }: { id: number }) => sentences[(id + db.now.getSeconds()) % sentences.length]

export async function pingBody(db: Queryable, target: HookTarget, hook: Hook) {
  return { zen: zenOf(db, hook), hook_id: hook.id, hook: hookJson(hook, target, wire), ...(await targetFields(db, target)) }
}

/** The payload shows the hook without addresses, because they respond 404 from now on. */
export async function enqueueDeletedEvent(db: Transaction, deleter: Account, target: HookTarget, hook: Hook) {
  const { type, id, name, active, events, config, updated_at, created_at } = hookJson(hook, target, wire)
  const deleted = { type, id, name, active, events, config, updated_at, created_at }
  const body = { action: 'deleted', hook_id: id, hook: deleted, ...(await targetFields(db, target)) }
  await store(db, deleter, target, hook, { event: 'meta', action: 'deleted', body })
}

async function targetFields(db: Queryable, { type, id }: HookTarget) {
  const [repo] = type === 'repository' ? await readRepositories(db, null, [id]) : []
  const owner = await db.first<Account>(sql`select ${accountColumns} from accounts a where a.id = ${repo?.owner_id ?? id}`)
  return {
    ...(repo && { repository: deliveredRepositoryJson(repo) }),
    ...(owner?.type === 'Organization' && { organization: simpleOrganizationJson(owner, wire) }),
  }
}

interface HookEvent {
  event: string
  action: string | null
  body: object
}

async function store(db: Transaction, sender: Account, target: HookTarget, hook: Hook, { event, action, body }: HookEvent) {
  const text = JSON.stringify({ ...body, sender: userJson(sender, wire) })
  const repo_id = target.type === 'repository' ? target.id : null
  await storeDeliveries(db, repo_id, [{ event, action, body: text, hooks: [hook] }], {
    requested: !hook.active,
  })
}
