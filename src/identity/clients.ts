import { type Database, type Queryable, sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { digest, sameSecret } from '#platform/secrets.ts'
import { guessAtClient } from './login-throttle.ts'
import type { AppPermissions } from './permissions.ts'

/** An OAuth application: a client with credentials of its own. */
export interface Application {
  id: number
  client_id: string
  secret_digest: Buffer
  secret_last_eight: string
  owner_id: number
  owner_login: string
  name: string
  url: string
  description: string | null
  callback_url: string
  /** The redirect address must be exactly the registered one. */
  strict_redirect: boolean
  /** The app that it belongs to; null for an OAuth application. */
  app: { id: number; slug: string; permissions: AppPermissions } | null
  created_at: Date
  updated_at: Date
}

export const selectApplications = sql`select p.*, (select json_build_object('id', x.id, 'slug', x.slug, 'permissions', x.permissions)
  from apps x where x.application_id = p.id) as app, o.login as owner_login from applications p join accounts o on o.id = p.owner_id`

export async function findApplication(db: Queryable, client_id: string): Promise<Application | undefined> {
  return client_id.includes('\0') ? undefined : db.first<Application>(sql`${selectApplications} where p.client_id = ${client_id}`)
}

export async function loadApplication(db: Queryable, client_id: string): Promise<Application> {
  const found = await findApplication(db, client_id)
  if (!found) throw missing()
  return found
}

/** The credentials of an application, and the address of the client. */
export interface ClientCredentials {
  client_id: string
  client_secret: string
  address: string
}

/** The application with these credentials, or undefined. A wrong id takes as long as a wrong secret. Guesses are limited. */
export async function findClient(db: Database, credentials: ClientCredentials): Promise<Application | undefined> {
  const { client_id, client_secret, address } = credentials
  return guessAtClient(db, client_id, address, async () => {
    const found = await findApplication(db, client_id)
    const right = sameSecret(digest(client_secret).toString('hex'), (found?.secret_digest ?? digest('nobody')).toString('hex'))
    return right ? found : undefined
  })
}
