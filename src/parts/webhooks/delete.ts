import { recordAudit } from '#activity/audit.ts'
import type { Account } from '#identity/accounts.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { enqueueDeletedEvent } from './hook-events.ts'
import { auditSubject, type HookTarget, lockHooks } from './hook-target.ts'
import { loadHook } from './hooks.ts'

/** Drops pending deliveries. A hook that subscribes to `meta` is sent its own deletion. */
export async function deleteHook(db: Transaction, deleter: Account, target: HookTarget, id: number) {
  await lockHooks(db, target)
  const hook = await loadHook(db, target, id)
  // Deliveries before hooks, as when outcomes are recorded, because the opposite order would deadlock with that.
  await db.query(sql`delete from pending_deliveries where hook_id = ${id}`)
  await db.query(sql`update hooks set deleted_at = ${db.now} where id = ${id}`)
  await recordAudit(db, deleter, 'hook.delete', auditSubject(target, hook))
  const subscribed = hook.events.includes('meta') || hook.events.includes('*')
  if (hook.active && subscribed) await enqueueDeletedEvent(db, deleter, target, hook)
}

/** Removes hooks that were deleted before the oldest delivery that is kept, also with their app, and former secrets that have expired. */
export async function purgeHooks(db: Queryable) {
  await db.query(sql`
    update hooks set deleted_at = ${db.now} where target_type = 'integration' and app_id is null and deleted_at is null`)
  await db.query(sql`
    delete from hooks h where h.deleted_at < ${db.now}::timestamptz - interval '30 days'
      and not exists (select from pending_deliveries u where u.hook_id = h.id)`)
  await db.query(sql`
    update hooks set former_secret = null, former_secret_until = null where former_secret_until <= ${db.now}`)
}
