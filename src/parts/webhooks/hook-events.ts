import { unaddressed as wire } from '#hosting/announcements/addresses.ts'
import { storeDeliveries } from '#hosting/announcements/announcements.ts'
import { toldRepositoryJson } from '#hosting/announcements/repositories.ts'
import { simpleOrganizationJson } from '#hosting/organizations/json.ts'
import { userJson } from '#hosting/people/json.ts'
import { readRepositories } from '#hosting/repositories/repositories.ts'
import { type Account, accountColumns } from '#identity/accounts.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import type { HookTarget } from './hook-target.ts'
import type { Hook } from './hooks.ts'
import { hookJson } from './json.ts'
import { clearThrottle } from './resume.ts'

const sentences = [
  'A bell that nobody hears has still been rung.',
  'Say it once, and say it whole.',
  'The first message is the one that finds the road.',
  'Keep what you were told until somebody has it.',
  'Small parts, clearly named.',
  'An answer in time is worth two that are long.',
]

/** Sent whatever events the hook subscribes to, at once, and also to an inactive hook, because a person asks for it. */
export async function pingHook(db: Transaction, sender: Account, target: HookTarget, hook: Hook) {
  await store(db, sender, target, await clearThrottle(db, hook), {
    event: 'ping',
    action: null,
    body: await pingBody(db, target, hook),
  })
}

export async function pingBody(db: Queryable, target: HookTarget, hook: Hook) {
  const zen = sentences[(hook.id + db.now.getSeconds()) % sentences.length]
  return { zen, hook_id: hook.id, hook: hookJson(hook, target, wire), ...(await targetFields(db, target)) }
}

/** A hook's last word. It has no addresses any more. */
export async function enqueueDeletedEvent(db: Transaction, deleter: Account, target: HookTarget, hook: Hook) {
  const { type, id, name, active, events, config, updated_at, created_at } = hookJson(hook, target, wire)
  const told = { type, id, name, active, events, config, updated_at, created_at }
  const body = { action: 'deleted', hook_id: id, hook: told, ...(await targetFields(db, target)) }
  await store(db, deleter, target, hook, { event: 'meta', action: 'deleted', body })
}

async function targetFields(db: Queryable, { type, id }: HookTarget) {
  const [repo] = type === 'repository' ? await readRepositories(db, null, [id]) : []
  const owner = await db.first<Account>(sql`select ${accountColumns} from accounts a where a.id = ${repo?.owner_id ?? id}`)
  return {
    ...(repo && { repository: toldRepositoryJson(repo) }),
    ...(owner?.type === 'Organization' && { organization: simpleOrganizationJson(owner, wire) }),
  }
}

interface Word {
  event: string
  action: string | null
  body: object
}

async function store(db: Transaction, sender: Account, target: HookTarget, hook: Hook, { event, action, body }: Word) {
  const text = JSON.stringify({ ...body, sender: userJson(sender, wire) })
  await storeDeliveries(db, target.type === 'repository' ? target.id : null, [{ event, action, body: text, hooks: [hook] }])
}
