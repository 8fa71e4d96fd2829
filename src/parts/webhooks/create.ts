import { recordAudit } from '#activity/audit.ts'
import type { Belfry } from '#belfry.ts'
import type { Account } from '#identity/accounts.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { policyFor } from '#platform/outbound/policy.ts'
import { type Static, Type } from '#platform/schema.ts'
import { ConfigSchema, checkName, readConfig } from './config.ts'
import { changeEvents, checkEvents, EventsSchema } from './events.ts'
import { pingHook } from './hook-events.ts'
import { auditSubject, type HookTarget, lockHooks } from './hook-target.ts'
import { loadHook } from './hooks.ts'
import { checkDuplicate, checkHookCount } from './limits.ts'
import { lockMakerAccess } from './pauses.ts'
import { sealSecret } from './secrets.ts'

export const hookOptions = { name: Type.String(), config: ConfigSchema, events: EventsSchema, active: Type.Boolean() }

const options = Type.Partial(Type.Object(hookOptions)).properties
/** Unknown fields are refused, because a misspelled one would create a hook with defaults. */
export const NewHookSchema = Type.Object(options, { additionalProperties: false })
type NewHook = Static<typeof NewHookSchema>

/** What creating and updating a hook needs of the server. */
export const hookDepsOf = ({ vault, settings }: Belfry) => ({
  vault,
  policy: policyFor(settings.BELFRY_HOST, settings.BELFRY_WEBHOOK_ADDRESSES),
})
export type HookDeps = ReturnType<typeof hookDepsOf>

export async function createHook(db: Transaction, creator: Account, target: HookTarget, input: NewHook, deps: HookDeps) {
  checkName(input.name)
  const { config = {}, events: named = ['push'], active = true } = input
  const { url, content_type, insecure_ssl } = readConfig(config, deps.policy)
  checkEvents(named, target.type)
  const events = changeEvents([], { events: named })
  await lockHooks(db, target)
  await lockMakerAccess(db, target, creator)
  const id = await reserveHookId(db)
  await checkDuplicate(db, target, { id, events, url, content_type, insecure_ssl })
  await checkHookCount(db, target, { id, events })
  const [repo_id, org_id] = target.type === 'repository' ? [target.id, null] : [null, target.id]
  await db.query(sql`
    insert into hooks (id, repo_id, org_id, target_id, target_type, creator_id, active, events, url, content_type, insecure_ssl, secret,
      created_at, updated_at)
    overriding system value
    values (${id}, ${repo_id}, ${org_id}, ${target.id}, ${target.type}, ${creator.id}, ${active}, ${events}, ${url}, ${content_type},
      ${insecure_ssl}, ${sealSecret(deps.vault, id, config.secret)}, ${db.now}, ${db.now})`)
  const hook = await loadHook(db, target, id)
  await recordAudit(db, creator, 'hook.create', auditSubject(target, hook))
  // The spec: an inactive hook is sent nothing automatically.
  if (hook.active) await pingHook(db, creator, target, hook)
  return hook
}

/** The id is needed before the row is written, because the secret is encrypted for it. */
export async function reserveHookId(db: Transaction): Promise<number> {
  const row = await db.first<{ id: number }>(sql`select nextval(pg_get_serial_sequence('hooks', 'id')) as id`)
  if (!row) throw new Error('no id was reserved')
  return row.id
}
