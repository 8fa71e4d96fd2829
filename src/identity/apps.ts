import { type Database, type Queryable, type Row, sql } from '#platform/database.ts'
import { badCredentials } from './callers.ts'
import { checkSignature, checkTimes, parseJwt } from './jwt.ts'
import type { AppPermissions } from './permissions.ts'

/** An app: an OAuth application that also acts for itself, by its bot, in the repositories that it is installed on. */
export interface App extends Row {
  id: number
  application_id: number
  client_id: string
  bot_id: number
  slug: string
  name: string
  url: string
  description: string | null
  callback_url: string
  setup_url: string | null
  owner_id: number
  owner_login: string
  owner_type: 'User' | 'Organization'
  owner_site_admin: boolean
  permissions: AppPermissions
  events: string[]
  public: boolean
  created_at: Date
  updated_at: Date
}

export const appColumns = sql`p.id, p.application_id, c.client_id, p.bot_id, p.slug, c.name, c.url, c.description, c.callback_url, p.setup_url, c.owner_id,
  o.login as owner_login, o.type as owner_type, o.site_admin as owner_site_admin, p.permissions, p.events, p.public, p.created_at, p.updated_at`

export const appSource = sql`apps p join applications c on c.id = p.application_id join accounts o on o.id = c.owner_id`

/**
 * The app that signed a token with one of its keys. Unknown apps, apps of suspended users and wrong signatures get the same response.
 */
export async function authenticateApp(db: Database, authorization: string): Promise<App> {
  const [, token] = /^bearer\s+(\S+)\s*$/i.exec(authorization) ?? []
  if (token === undefined) throw badCredentials()
  const jwt = parseJwt(token)
  const app = await findIssuer(db, jwt.issuer)
  const keys = app ? await db.rows<{ public_key: string }>(sql`select public_key from app_keys where app_id = ${app.id}`) : []
  checkSignature(
    jwt,
    keys.map(({ public_key }) => public_key),
  )
  if (!app) throw badCredentials()
  checkTimes(jwt, db.now)
  return app
}

function findIssuer(db: Queryable, issuer: string): Promise<App | undefined> {
  const condition = /^\d{1,15}$/.test(issuer) ? sql`p.id = ${Number(issuer)}` : sql`c.client_id = ${issuer}`
  return issuer.includes('\0')
    ? Promise.resolve(undefined)
    : db.first<App>(sql`select ${appColumns} from ${appSource} where ${condition} and app_is_enabled(p.id)`)
}
