import { recordAudit } from '#activity/audit.ts'
import type { Account } from '#identity/accounts.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { type Static, Type } from '#platform/schema.ts'
import { type ConfigInput, checkName, readConfig } from './config.ts'
import { type HookDeps, hookOptions } from './create.ts'
import { changeEvents, checkEvents, EventsSchema } from './events.ts'
import { auditSubject, type HookTarget, hooksOf, lockHooks } from './hook-target.ts'
import { type Hook, loadHook } from './hooks.ts'
import { checkDuplicate, checkHookCount } from './limits.ts'
import { endPause, lockMakerAccess } from './pauses.ts'
import { changeSecret } from './secrets.ts'
import { resumeHook } from './throttling.ts'

export const HookChangesSchema = Type.Partial(
  Type.Object({ ...hookOptions, add_events: EventsSchema, remove_events: EventsSchema }),
)
type HookChanges = Static<typeof HookChangesSchema>

/** A config replaces the whole former config, secret included. Without one, the former config stays. */
export async function updateHook(
  db: Transaction,
  editor: Account,
  target: HookTarget,
  id: number,
  changes: HookChanges,
  { vault, policy }: HookDeps,
): Promise<Hook> {
  checkName(changes.name)
  const { config, events = [], add_events = [], remove_events = [], active } = changes
  checkEvents([...events, ...add_events, ...remove_events], target.type)
  await lockHooks(db, target)
  const hook = await loadHook(db, target, id)
  return save(db, editor, target, hook, {
    ...hook,
    ...(config && readConfig(config, policy)),
    ...(config && changeSecret(vault, hook, config.secret ?? null, db.now)),
    events: changeEvents(hook.events, changes),
    active: active ?? hook.active,
  })
}

/** Changes only the fields that are given. An app has no editor. */
export async function updateConfig(
  db: Transaction,
  editor: Account | null,
  target: HookTarget,
  id: number,
  changes: ConfigInput,
  { vault, policy }: HookDeps,
): Promise<Hook> {
  await lockHooks(db, target)
  const hook = await loadHook(db, target, id)
  return save(db, editor, target, hook, {
    ...hook,
    ...readConfig(changes, policy, hook),
    ...(changes.secret !== undefined && changeSecret(vault, hook, changes.secret, db.now)),
  })
}

async function save(db: Transaction, editor: Account | null, target: HookTarget, former: Hook, next: Hook): Promise<Hook> {
  await checkDuplicate(db, target, next)
  const added = next.events.filter((event) => !former.events.includes(event))
  await checkHookCount(db, target, { id: next.id, events: added })
  // A new receiver does not inherit the failures of the former one.
  if (next.url !== former.url) await resumeHook(db, former)
  const activated = next.active && !former.active
  // The user who activates it, or changes its url, is responsible for it from then on.
  const creator_id = editor && (activated || next.url !== former.url) ? editor.id : former.creator_id
  if (editor && creator_id === editor.id) await lockMakerAccess(db, target, editor)
  if (activated) await endPause(db, former)
  await db.query(sql`
    update hooks h set creator_id = ${creator_id}, active = ${next.active}, events = ${next.events}, url = ${next.url}, content_type = ${next.content_type},
      insecure_ssl = ${next.insecure_ssl}, secret = ${next.secret}, former_secret = ${next.former_secret},
      former_secret_until = ${next.former_secret_until}, updated_at = ${db.now}
    where h.id = ${next.id} and ${hooksOf(target)}`)
  if (editor) await recordAudit(db, editor, 'hook.update', auditSubject(target, next))
  return loadHook(db, target, next.id)
}
