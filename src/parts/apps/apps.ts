import { createHash, createPublicKey, generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import { type Administrator, recordAudit } from '#activity/audit.ts'
import type { Account, Person } from '#identity/accounts.ts'
import { type App, appColumns, appSource } from '#identity/apps.ts'
import { createApplication, type FixedClient } from '#parts/oauth/applications.ts'
import type { HookDeps } from '#parts/webhooks/create.ts'
import { codeOf, type Queryable, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { isWebAddress } from '#platform/web-address.ts'
import { checkAppEvents, checkAppPermissions } from './events.ts'
import { createAppHook, newHookSecret } from './hook.ts'

export interface NewApp {
  name: string
  url: string
  description?: string | null | undefined
  callback_url?: string | null | undefined
  setup_url?: string | null | undefined
  public?: boolean | undefined
  permissions?: Record<string, string> | undefined
  events?: string[] | undefined
  hook?: { url: string; secret?: string | null | undefined; active?: boolean | undefined } | undefined
}

export interface RegisteredApp {
  app: App
  client_secret: string
  /** Null for an app without a hook. */
  webhook_secret: string | null
}

/** Registers an app with its bot, its OAuth application and its webhook, which gets a secret if it has none. */
export async function createApp(
  db: Transaction,
  actor: Administrator,
  owner: Account,
  wanted: NewApp,
  deps: HookDeps,
  fixed: FixedClient = {},
): Promise<RegisteredApp> {
  const permissions = checkAppPermissions(wanted.permissions ?? {})
  const events = checkAppEvents(wanted.events ?? [], permissions)
  const slug = slugOf(wanted.name)
  if (wanted.setup_url && !isWebAddress(wanted.setup_url)) {
    throw fault('setup_url', 'The setup URL is an http or https address.')
  }
  const client = {
    name: wanted.name.trim(),
    url: wanted.url,
    description: wanted.description ?? null,
    // An app without user tokens needs no callback.
    callback_url: wanted.callback_url || wanted.url,
  }
  const { id: application_id, client_secret } = await createApplication(db, actor, owner, client, fixed)
  const bot_id = await createBot(db, slug)
  const { id } = await db.load<{ id: number }>(sql`
    insert into apps (application_id, bot_id, slug, permissions, events, public, setup_url, created_at, updated_at)
    values (${application_id}, ${bot_id}, ${slug}, ${JSON.stringify(permissions)}::jsonb, ${events}, ${wanted.public ?? false},
      ${wanted.setup_url || null}, ${db.now}, ${db.now})
    returning id`)
  const app = await loadApp(db, id)
  const webhook_secret = wanted.hook ? wanted.hook.secret || newHookSecret() : null
  if (wanted.hook) await createAppHook(db, app, { ...wanted.hook, secret: webhook_secret }, deps)
  await recordAudit(db, actor, 'app.create', `${owner.login}: ${slug}`)
  return { app, client_secret, webhook_secret }
}

const fault = (field: string, message: string) => invalid({ resource: 'Integration', code: 'invalid', field, message })

/** The address of an app, and the login of its bot before `[bot]`. */
function slugOf(name: string) {
  const slug = name
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  if (slug === '' || name.trim().length > 34)
    throw fault('name', 'A name has 1 to 34 characters, at least one of them a letter or digit.')
  return slug
}

/** The bot outlives the app, because its comments do, so the name of a deleted app stays taken. */
async function createBot(db: Transaction, slug: string): Promise<number> {
  try {
    const { id } = await db.load<{ id: number }>(sql`
      insert into accounts (type, login, created_at, updated_at) values ('Bot', ${`${slug}[bot]`}, ${db.now}, ${db.now}) returning id`)
    return id
  } catch (error) {
    if (codeOf(error) !== '23505') throw error
    throw invalid({ resource: 'Integration', code: 'already_exists', field: 'name', message: 'The name is already taken.' })
  }
}

export async function loadApp(db: Queryable, id: number): Promise<App> {
  return db.load<App>(sql`select ${appColumns} from ${appSource} where p.id = ${id}`)
}

/** The bot as the author of what its app does. */
export const botOf = ({ bot_id, slug }: App): Person => ({ id: bot_id, type: 'Bot', login: `${slug}[bot]`, site_admin: false })

/** A private app is visible to its owner, and to accounts that it is installed on. */
export async function loadAppBySlug(db: Queryable, slug: string, viewer_id: number | null): Promise<App> {
  return db.load<App>(sql`
    select ${appColumns} from ${appSource} where p.slug = ${slug} and (p.public or c.owner_id = ${viewer_id}
      or exists (select from memberships m where m.org_id = c.owner_id and m.user_id = ${viewer_id})
      or exists (select from installations i where i.app_id = p.id and (i.account_id = ${viewer_id}
        or exists (select from memberships m where m.org_id = i.account_id and m.user_id = ${viewer_id}))))`)
}

/** A condition: the user owns the account `a`, or is an owner of the organization. */
export const administers = (
  user: { id: number },
  account_id: ReturnType<typeof sql>,
) => sql`(${account_id} = ${user.id} or exists (
  select from memberships m where m.org_id = ${account_id} and m.user_id = ${user.id} and m.role = 'admin'))`

/** The apps that a user may change: their own, and those of organizations that they own. */
export function listApps(db: Queryable, user: Account, slice: Slice): Promise<Listed<App>> {
  const source = sql`${appSource} where ${administers(user, sql`c.owner_id`)}`
  return listed(db, { columns: appColumns, source, order: sql`lower(c.name), p.id` }, slice)
}

export async function loadOwnApp(db: Queryable, user: Account, slug: string): Promise<App> {
  return db.load<App>(
    sql`select ${appColumns} from ${appSource} where p.slug = ${slug} and ${administers(user, sql`c.owner_id`)}`,
  )
}

export interface AppKey {
  id: number
  fingerprint: string
  created_at: Date
}

export const listKeys = (db: Queryable, app: { id: number }) =>
  db.rows<AppKey>(sql`select id, fingerprint, created_at from app_keys where app_id = ${app.id} order by id`)

const generate = promisify(generateKeyPair)

/** A new private key with its public half. Takes a tenth of a second, so it is created before the transaction. */
export async function newKey() {
  const publicKeyEncoding = { type: 'spki', format: 'pem' } as const
  const privateKeyEncoding = { type: 'pkcs1', format: 'pem' } as const
  const { publicKey, privateKey } = await generate('rsa', { modulusLength: 2048, publicKeyEncoding, privateKeyEncoding })
  return { pem: privateKey, ...describeKey(publicKey) }
}

/** The public half of a private or public key in PEM format. */
export function describeKey(pem: string) {
  const key = createPublicKey(pem)
  const digest = createHash('sha256').update(key.export({ type: 'spki', format: 'der' }))
  return { public_key: key.export({ type: 'spki', format: 'pem' }).toString(), fingerprint: `SHA256:${digest.digest('base64')}` }
}

/** Checking a token tries every key. */
const mostKeys = 10

type PublicKey = Omit<Awaited<ReturnType<typeof newKey>>, 'pem'>

export async function addKey(db: Transaction, actor: Administrator, app: Pick<App, 'id' | 'slug'>, key: PublicKey) {
  await db.query(sql`select from apps where id = ${app.id} for no key update`)
  if ((await listKeys(db, app)).length >= mostKeys) throw fault('key', `An app has at most ${mostKeys} keys. Delete one first.`)
  await db.query(sql`
    insert into app_keys (app_id, public_key, fingerprint, created_at) values (${app.id}, ${key.public_key}, ${key.fingerprint}, ${db.now})`)
  await recordAudit(db, actor, 'app.add_key', `${app.slug}: ${key.fingerprint}`)
}

export async function deleteKey(db: Transaction, actor: Administrator, app: Pick<App, 'id' | 'slug'>, id: number) {
  const { rowCount } = await db.query(sql`delete from app_keys where id = ${id} and app_id = ${app.id}`)
  if (!rowCount) throw missing()
  await recordAudit(db, actor, 'app.delete_key', `${app.slug}: key ${id}`)
}

/** Its installations, tokens and keys are deleted too. Comments of its bot stay. */
export async function deleteApp(db: Transaction, actor: Administrator, app: App) {
  // Deliveries before hooks, as when outcomes are recorded, because the opposite order would deadlock with that.
  await db.query(sql`delete from pending_deliveries where hook_id in (select id from hooks where app_id = ${app.id})`)
  await db.query(sql`update hooks set deleted_at = ${db.now} where app_id = ${app.id}`)
  await db.query(sql`delete from applications where id = ${app.application_id}`)
  await recordAudit(db, actor, 'app.delete', `${app.owner_login}: ${app.slug}`)
}
