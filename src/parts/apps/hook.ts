import { randomBytes } from 'node:crypto'
import { recordAudit } from '#activity/audit.ts'
import { storeDeliveries } from '#activity/outbox/outbox.ts'
import { unaddressed as wire } from '#hosting/payloads/payload-context.ts'
import { timestamp } from '#http/serialization.ts'
import type { App } from '#identity/apps.ts'
import { type ConfigInput, readConfig } from '#parts/webhooks/config.ts'
import { type HookDeps, reserveHookId } from '#parts/webhooks/create.ts'
import { zenOf } from '#parts/webhooks/hook-events.ts'
import type { HookTarget } from '#parts/webhooks/hook-target.ts'
import { type Hook, loadOnlyHook } from '#parts/webhooks/hooks.ts'
import { configJson } from '#parts/webhooks/json.ts'
import { sealSecret } from '#parts/webhooks/secrets.ts'
import { updateConfig } from '#parts/webhooks/update.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import type { Vault } from '#platform/vault.ts'

const appTarget = ({ id }: Pick<App, 'id'>): HookTarget => ({ type: 'integration', id, path: 'app' })

export const newHookSecret = () => randomBytes(20).toString('hex')

interface NewAppHook {
  url: string
  secret?: string | null | undefined
  active?: boolean | undefined
}

/** An app has one hook. It subscribes to the events of the app, and is also sent those about installations. */
export async function createAppHook(
  db: Transaction,
  app: App,
  { url, secret, active = true }: NewAppHook,
  deps: HookDeps,
): Promise<Hook> {
  const config = readConfig({ url, content_type: 'json' }, deps.policy)
  const id = await reserveHookId(db)
  await db.query(sql`
    insert into hooks (id, app_id, target_id, target_type, active, events, url, content_type, insecure_ssl, secret, created_at, updated_at)
    overriding system value
    values (${id}, ${app.id}, ${app.id}, 'integration', ${active}, ${app.events}, ${config.url}, ${config.content_type}, false,
      ${sealSecret(deps.vault, id, secret)}, ${db.now}, ${db.now})`)
  const hook = await loadAppHook(db, app)
  if (hook.active) await ping(db, app, hook)
  return hook
}

/** Refuses an app without a hook. */
export const loadAppHook = (db: Queryable, app: Pick<App, 'id'>): Promise<Hook> => loadOnlyHook(db, appTarget(app))

async function ping(db: Transaction, app: App, hook: Hook) {
  const shown = {
    type: 'App',
    id: hook.id,
    name: 'web',
    active: hook.active,
    events: hook.events,
    config: configJson(hook),
    updated_at: timestamp(hook.updated_at),
    created_at: timestamp(hook.created_at),
    app_id: app.id,
    deliveries_url: `${wire.api}/app/hook/deliveries`,
  }
  const body = JSON.stringify({ zen: zenOf(db, hook), hook_id: hook.id, hook: shown })
  await storeDeliveries(db, null, [{ event: 'ping', action: null, body, hooks: [hook] }])
}

const lockAppHook = (db: Transaction, app: App) =>
  db.first<{ id: number }>(sql`select id from hooks where app_id = ${app.id} and deleted_at is null for no key update`)

/** Changes the fields that are given. An app without a hook gets one, if there is a URL. */
export async function changeAppHook(db: Transaction, app: App, changes: ConfigInput, deps: HookDeps): Promise<Hook> {
  const found = await lockAppHook(db, app)
  const { id } = found ?? (await createAppHook(db, app, { url: changes.url ?? '', secret: changes.secret ?? null }, deps))
  await recordAudit(db, { id: app.bot_id }, 'app.change_hook', app.slug)
  return updateConfig(db, null, appTarget(app), id, changes, deps)
}

/** Returns the new secret in clear text; null if the app has no hook. The old one is invalid at once. */
export async function renewHookSecret(db: Transaction, vault: Vault, app: App): Promise<string | null> {
  const hook = await lockAppHook(db, app)
  if (!hook) return null
  const secret = newHookSecret()
  await db.query(sql`
    update hooks set secret = ${sealSecret(vault, hook.id, secret)}, former_secret = null, former_secret_until = null, updated_at = ${db.now}
    where id = ${hook.id}`)
  return secret
}
