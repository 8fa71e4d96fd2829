import type { Account } from '#identity/accounts.ts'
import { type Listed, listed, type Queryable, type Slice, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import type { Policy } from '#platform/outbound/policy.ts'
import type { Vault } from '#platform/vault.ts'
import { type Config, type ConfigInput, readConfig } from './config.ts'
import { changeEvents, checkEvents, type EventChanges } from './events.ts'
import { enqueueDeletedEvent, pingHook } from './hook-events.ts'
import { type HookTarget, hooksOf } from './hook-target.ts'
import { checkDuplicate, checkHookCount } from './limits.ts'
import { endPause, lockMakerAccess, type PausedReason } from './pauses.ts'
import { resumeHook } from './resume.ts'
import { changeSecret, type SealedSecrets, sealSecret } from './secrets.ts'

export { pingHook } from './hook-events.ts'
export { type HookTarget, targetOf } from './hook-target.ts'

export interface Hook extends Config, SealedSecrets {
  id: number
  repo_id: number | null
  org_id: number | null
  target_id: number
  target_type: HookTarget['type']
  /** The person responsible for it: it sends as long as they may administer the repository or organization. Null if there is none. */
  creator_id: number | null
  maker: string | null
  /** Why it is paused, and since when; see pauses.ts. */
  paused_reason: PausedReason | null
  paused_at: Date | null
  active: boolean
  events: string[]
  created_at: Date
  updated_at: Date
  deleted_at: Date | null
  last_code: number | null
  last_status: string | null
  last_message: string | null
  last_delivered_at: Date | null
  failures: number
  throttled_until: Date | null
  /** Whether its last delivery is too long ago to tell of. */
  quiet: boolean
}

const columns = (now: Date) => sql`h.*, (select a.login from accounts a where a.id = h.creator_id) as maker,
  coalesce(h.last_delivered_at < ${now}::timestamptz - interval '30 days', false) as quiet`

export function listHooks(db: Queryable, target: HookTarget, slice: Slice): Promise<Listed<Hook>> {
  return listed(db, { columns: columns(db.now), source: sql`hooks h where ${hooksOf(target)}`, order: sql`h.id` }, slice)
}

export async function loadHook(db: Queryable, target: HookTarget, id: number): Promise<Hook> {
  const hook = await db.first<Hook>(sql`select ${columns(db.now)} from hooks h where h.id = ${id} and ${hooksOf(target)}`)
  if (!hook) throw missing()
  return hook
}

export interface NewHook {
  name?: string
  config?: ConfigInput
  events?: string[]
  active?: boolean
}

export async function createHook(
  db: Transaction,
  creator: Account,
  target: HookTarget,
  wanted: NewHook,
  vault: Vault,
  policy: Policy,
): Promise<Hook> {
  checkName(wanted.name)
  const { config = {}, events: named = ['push'], active = true } = wanted
  const { url, content_type, insecure_ssl } = readConfig(config, policy)
  checkEvents(named, target.type)
  const events = changeEvents([], { events: named })
  await lockHooks(db, target)
  await lockMakerAccess(db, target, creator)
  const id = await reserveId(db)
  await checkDuplicate(db, target, { id, events, url, content_type, insecure_ssl })
  await checkHookCount(db, target, { id, events })
  const [repo_id, org_id] = target.type === 'repository' ? [target.id, null] : [null, target.id]
  await db.query(sql`
    insert into hooks (id, repo_id, org_id, target_id, target_type, creator_id, active, events, url, content_type, insecure_ssl, secret,
      created_at, updated_at)
    overriding system value
    values (${id}, ${repo_id}, ${org_id}, ${target.id}, ${target.type}, ${creator.id}, ${active}, ${events}, ${url}, ${content_type},
      ${insecure_ssl}, ${sealSecret(vault, id, config.secret)}, ${db.now}, ${db.now})`)
  const hook = await loadHook(db, target, id)
  // The spec: an inactive hook is sent nothing automatically.
  if (hook.active) await pingHook(db, creator, target, hook)
  return hook
}

function checkName(name: string | undefined) {
  if (name !== undefined && name !== 'web') throw invalid({ resource: 'Hook', code: 'invalid', field: 'name' })
}

/** Those who change the hooks of a target at the same moment take turns: what makes them unlike holds for all of them together. */
async function lockHooks(db: Transaction, { type, id }: HookTarget) {
  await db.query(sql`select pg_advisory_xact_lock(${turns[type]}::integer, hashint8(${id}))`)
}
const turns: Record<HookTarget['type'], number> = { repository: 0x686f6f6b, organization: 0x6f726768 }

/** Known before it is written, since its secret is sealed for it. */
async function reserveId(db: Transaction): Promise<number> {
  const row = await db.first<{ id: number }>(sql`select nextval(pg_get_serial_sequence('hooks', 'id')) as id`)
  if (!row) throw new Error('no id was reserved')
  return row.id
}

export interface HookChanges extends EventChanges {
  name?: string
  config?: ConfigInput
  active?: boolean
}

/** A config replaces the whole of the old one, secret and all; without one, it stays. */
export async function updateHook(
  db: Transaction,
  editor: Account,
  target: HookTarget,
  { id }: Pick<Hook, 'id'>,
  changes: HookChanges,
  vault: Vault,
  policy: Policy,
): Promise<Hook> {
  checkName(changes.name)
  const { config, events = [], add_events = [], remove_events = [], active } = changes
  checkEvents([...events, ...add_events, ...remove_events], target.type)
  const hook = await hold(db, target, id)
  return write(db, editor, target, hook, {
    ...hook,
    ...(config && readConfig(config, policy)),
    ...(config && changeSecret(vault, hook, config.secret ?? null, db.now)),
    events: changeEvents(hook.events, changes),
    active: active ?? hook.active,
  })
}

/** Changes what is named, and leaves the rest. */
export async function updateConfig(
  db: Transaction,
  editor: Account,
  target: HookTarget,
  { id }: Pick<Hook, 'id'>,
  changes: ConfigInput,
  vault: Vault,
  policy: Policy,
): Promise<Hook> {
  const hook = await hold(db, target, id)
  return write(db, editor, target, hook, {
    ...hook,
    ...readConfig(changes, policy, hook),
    ...(changes.secret !== undefined && changeSecret(vault, hook, changes.secret, db.now)),
  })
}

/** The hook as it is once it is our turn to change it. */
async function hold(db: Transaction, target: HookTarget, id: number): Promise<Hook> {
  await lockHooks(db, target)
  return loadHook(db, target, id)
}

async function write(db: Transaction, editor: Account, target: HookTarget, former: Hook, next: Hook): Promise<Hook> {
  await checkDuplicate(db, target, next)
  const added = next.events.filter((event) => !former.events.includes(event))
  await checkHookCount(db, target, { id: next.id, events: added })
  // A new receiver does not inherit the failures of the one before.
  if (next.url !== former.url) await resumeHook(db, former)
  const activated = next.active && !former.active
  // The user who activates it, or changes its url, is responsible for it from then on.
  const creator_id = activated || next.url !== former.url ? editor.id : former.creator_id
  if (creator_id === editor.id) await lockMakerAccess(db, target, editor)
  if (activated) await endPause(db, former)
  await db.query(sql`
    update hooks h set creator_id = ${creator_id}, active = ${next.active}, events = ${next.events}, url = ${next.url}, content_type = ${next.content_type},
      insecure_ssl = ${next.insecure_ssl}, secret = ${next.secret}, former_secret = ${next.former_secret},
      former_secret_until = ${next.former_secret_until}, updated_at = ${db.now}
    where h.id = ${next.id} and ${hooksOf(target)}`)
  return loadHook(db, target, next.id)
}

/** What waits to be sent is not sent any more, but for word of the end itself. */
export async function deleteHook(db: Transaction, deleter: Account, target: HookTarget, { id }: Pick<Hook, 'id'>) {
  const hook = await hold(db, target, id)
  // In the order of those who record outcomes, so that neither waits for the other.
  await db.query(sql`delete from pending_deliveries where hook_id = ${id}`)
  await db.query(sql`update hooks set deleted_at = ${db.now} where id = ${id}`)
  if (hook.active && (hook.events.includes('meta') || hook.events.includes('*')))
    await enqueueDeletedEvent(db, deleter, target, hook)
}

/** Forgets hooks that were deleted so long ago that none of their deliveries is kept, and secrets that sign no more. */
export async function purgeHooks(db: Queryable) {
  await db.query(sql`
    delete from hooks h where h.deleted_at < ${db.now}::timestamptz - interval '30 days'
      and not exists (select from pending_deliveries u where u.hook_id = h.id)`)
  await db.query(sql`
    update hooks set former_secret = null, former_secret_until = null where former_secret_until <= ${db.now}`)
}
