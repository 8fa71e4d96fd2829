import type { Account } from '#identity/accounts.ts'
import { loadApplication } from '#identity/clients.ts'
import { rotateSecret } from '#parts/oauth/applications.ts'
import type { HookDeps } from '#parts/webhooks/create.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { parseJson } from '#platform/json.ts'
import { digest, randomText } from '#platform/secrets.ts'
import type { Vault } from '#platform/vault.ts'
import { addKey, createApp, loadApp, type NewApp, newKey, type RegisteredApp } from './apps.ts'
import { renewHookSecret } from './hook.ts'

/** Longer manifests are refused before they are parsed. In characters. */
export const longestManifest = 5000

export interface Manifest {
  wanted: NewApp
  redirect_url: string | null
}

const wrong = (field: string, message: string) => invalid({ resource: 'Manifest', code: 'invalid', field, message })

/** Reads a manifest: the body of a registration, or what a program sends with the browser of the future owner. */
export function readManifest(given: Record<string, unknown>): Manifest {
  const hook = objectAt(given, 'hook_attributes')
  const callbacks = given.callback_urls === undefined ? [] : given.callback_urls
  if (!Array.isArray(callbacks)) throw wrong('callback_urls', 'callback_urls must be a list')
  const redirect_url = textAt(given, 'redirect_url')
  if (redirect_url && !/^https?:$/.test(URL.parse(redirect_url)?.protocol ?? '')) {
    throw wrong('redirect_url', 'redirect_url must be an http or https address')
  }
  return {
    redirect_url,
    wanted: {
      name: textAt(given, 'name') ?? '',
      url: textAt(given, 'url') ?? '',
      description: textAt(given, 'description'),
      callback_url: textAt({ callback_url: callbacks[0] ?? given.callback_url }, 'callback_url'),
      setup_url: textAt(given, 'setup_url'),
      public: given.public === true,
      permissions: textsAt(given, 'default_permissions'),
      events: eventsAt(given),
      ...(hook && { hook: { url: textAt(hook, 'url') ?? '', secret: textAt(hook, 'secret'), active: hook.active !== false } }),
    },
  }
}

export function parseManifest(text: string): Manifest {
  return readManifest(parse(text))
}

function parse(text: string): Record<string, unknown> {
  if (text.length > longestManifest) throw wrong('manifest', `The manifest has more than ${longestManifest} characters`)
  try {
    const value: unknown = parseJson(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && !text.includes('\\u0000')) {
      return value as Record<string, unknown>
    }
  } catch {
    // The same message as for a manifest of another type.
  }
  throw wrong('manifest', 'The manifest must be a JSON object')
}

function textAt(given: Record<string, unknown>, name: string): string | null {
  const value = given[name]
  if (value === undefined || value === null) return null
  if (typeof value !== 'string' || value.length > 500) throw wrong(name, `${name} must be a text of up to 500 characters`)
  return value
}

function objectAt(given: Record<string, unknown>, name: string): Record<string, unknown> | null {
  const value = given[name] ?? null
  if (typeof value !== 'object' || Array.isArray(value)) throw wrong(name, `${name} must be an object`)
  return value as Record<string, unknown> | null
}

function textsAt(given: Record<string, unknown>, name: string): Record<string, string> {
  const entries = Object.entries(objectAt(given, name) ?? {})
  if (entries.some(([, value]) => typeof value !== 'string')) throw wrong(name, `${name} must contain texts`)
  return Object.fromEntries(entries) as Record<string, string>
}

function eventsAt({ default_events = [] }: Record<string, unknown>): string[] {
  if (Array.isArray(default_events) && default_events.every((event) => typeof event === 'string')) return default_events
  throw wrong('default_events', 'default_events must be a list of texts')
}

/** The code in clear text. It is valid for an hour. */
export async function issueManifestCode(db: Transaction, app: { id: number }): Promise<string> {
  const code = randomText(40)
  await db.query(sql`delete from app_manifest_codes where expires_at <= ${db.now}`)
  await db.query(sql`
    insert into app_manifest_codes (digest, app_id, expires_at)
    values (${digest(code)}, ${app.id}, ${db.now}::timestamptz + interval '1 hour')`)
  return code
}

export interface Credentials extends RegisteredApp {
  pem: string
}

/** Registers an app with a first key. */
export async function registerApp(
  db: Database,
  actor: Account,
  owner: Account,
  wanted: NewApp,
  deps: HookDeps,
): Promise<Credentials> {
  const { pem, ...key } = await newKey()
  return db.transaction(async (transaction) => {
    const registered = await createApp(transaction, actor, owner, wanted, deps)
    await addKey(transaction, actor, registered.app, key)
    return { ...registered, pem }
  })
}

/** Exchanges a code for new credentials of the app, once. */
export async function convertCode(db: Database, vault: Vault, code: string): Promise<Credentials> {
  // Before the key is created, because that takes a tenth of a second, and anyone may call this.
  if (!(await db.first(sql`select from app_manifest_codes where digest = ${digest(code)} and expires_at > ${db.now}`)))
    throw missing()
  const { pem, ...key } = await newKey()
  return db.transaction(async (transaction) => {
    const found = await transaction.first<{ app_id: number }>(sql`
      delete from app_manifest_codes where digest = ${digest(code)} and expires_at > ${transaction.now} returning app_id`)
    if (!found) throw missing()
    const app = await loadApp(transaction, found.app_id)
    // The code is the credential: whoever has it acts for the app.
    const actor = { id: app.bot_id }
    await addKey(transaction, actor, app, key)
    const client_secret = await rotateSecret(transaction, actor, await loadApplication(transaction, app.client_id))
    return { app, client_secret, webhook_secret: await renewHookSecret(transaction, vault, app), pem }
  })
}
