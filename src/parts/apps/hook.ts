import { randomBytes } from 'node:crypto'
import type { App } from '#identity/apps.ts'
import { readConfig } from '#parts/webhooks/config.ts'
import { type HookDeps, reserveHookId } from '#parts/webhooks/create.ts'
import type { HookTarget } from '#parts/webhooks/hook-target.ts'
import { sealSecret } from '#parts/webhooks/secrets.ts'
import { sql, type Transaction } from '#platform/database.ts'
import type { Vault } from '#platform/vault.ts'

export const appTarget = ({ id }: Pick<App, 'id'>): HookTarget => ({ type: 'integration', id, path: 'app' })

interface NewAppHook {
  url: string
  secret?: string | null | undefined
  active?: boolean | undefined
}

/** An app has one hook. It subscribes to the events of the app, and to those about its installations. */
export async function createAppHook(db: Transaction, app: App, { url, secret, active = true }: NewAppHook, deps: HookDeps) {
  const config = readConfig({ url, content_type: 'json' }, deps.policy)
  const id = await reserveHookId(db)
  await db.query(sql`
    insert into hooks (id, app_id, target_id, target_type, active, events, url, content_type, insecure_ssl, secret, created_at, updated_at)
    overriding system value
    values (${id}, ${app.id}, ${app.id}, 'integration', ${active}, ${app.events}, ${config.url}, ${config.content_type}, false,
      ${sealSecret(deps.vault, id, secret)}, ${db.now}, ${db.now})`)
}

/** Returns the new secret in clear text; null if the app has no hook. The old one is invalid at once. */
export async function renewHookSecret(db: Transaction, vault: Vault, app: App): Promise<string | null> {
  const hook = await db.first<{ id: number }>(
    sql`select id from hooks where app_id = ${app.id} and deleted_at is null for no key update`,
  )
  if (!hook) return null
  const secret = randomBytes(20).toString('hex')
  await db.query(sql`
    update hooks set secret = ${sealSecret(vault, hook.id, secret)}, former_secret = null, former_secret_until = null, updated_at = ${db.now}
    where id = ${hook.id}`)
  return secret
}
