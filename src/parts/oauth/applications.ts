import { randomBytes } from 'node:crypto'
import type { Account } from '#hosting/people/people.ts'
import { guessAtClient } from '#identity/login-throttle.ts'
import { type Database, type Queryable, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { digest, sameSecret } from '#platform/secrets.ts'
import { isCallback, type Registration } from './redirects.ts'

export interface Application extends Registration {
  id: number
  client_id: string
  secret_digest: Buffer
  secret_last_eight: string
  owner_id: number
  owner_login: string
  name: string
  url: string
  description: string | null
  created_at: Date
  updated_at: Date
}

export type NewApplication = Pick<Application, 'name' | 'url' | 'callback_url'> &
  Partial<Pick<Application, 'description' | 'strict_redirect'>>

const select = sql`select p.*, o.login as owner_login from applications p join accounts o on o.id = p.owner_id`

/** Returns the secret in clear, once. */
export async function createApplication(
  db: Transaction,
  owner: Account,
  wanted: NewApplication,
): Promise<Application & { client_secret: string }> {
  checkApplication(wanted)
  const client_id = randomBytes(10).toString('hex')
  const client_secret = randomBytes(20).toString('hex')
  await db.query(sql`
    insert into applications (client_id, secret_digest, secret_last_eight, owner_id, name, url, description, callback_url, strict_redirect,
      created_at, updated_at)
    values (${client_id}, ${digest(client_secret)}, ${client_secret.slice(-8)}, ${owner.id}, ${wanted.name}, ${wanted.url},
      ${wanted.description ?? null}, ${wanted.callback_url}, ${wanted.strict_redirect ?? false}, ${db.now}, ${db.now})`)
  return { ...(await loadApplication(db, client_id)), client_secret }
}

export async function findApplication(db: Queryable, client_id: string): Promise<Application | undefined> {
  return client_id.includes('\0') ? undefined : db.first<Application>(sql`${select} where p.client_id = ${client_id}`)
}

export async function loadApplication(db: Queryable, client_id: string): Promise<Application> {
  const found = await findApplication(db, client_id)
  if (!found) throw missing()
  return found
}

/** The credentials of an application, and the address it calls from. */
export interface ClientCredentials {
  client_id: string
  client_secret: string
  address: string
}

/** The application with these credentials, or undefined; a wrong id takes as long as a wrong secret. Guessing is limited. */
export async function findClient(db: Database, credentials: ClientCredentials): Promise<Application | undefined> {
  const { client_id, client_secret, address } = credentials
  return guessAtClient(db, client_id, address, async () => {
    const found = await findApplication(db, client_id)
    const right = sameSecret(digest(client_secret).toString('hex'), (found?.secret_digest ?? digest('nobody')).toString('hex'))
    return right ? found : undefined
  })
}

export function listApplications(db: Queryable, owner: Account): Promise<Application[]> {
  return db.rows<Application>(sql`${select} where p.owner_id = ${owner.id} order by lower(p.name), p.id limit 100`)
}

export async function updateApplication(
  db: Transaction,
  application: Application,
  changes: Partial<NewApplication>,
): Promise<Application> {
  const next = { ...application, ...changes }
  checkApplication(next)
  await db.query(sql`
    update applications set name = ${next.name}, url = ${next.url}, description = ${next.description}, callback_url = ${next.callback_url},
      strict_redirect = ${next.strict_redirect}, updated_at = ${db.now} where id = ${application.id}`)
  return loadApplication(db, application.client_id)
}

/** The old secret stops working at once. Returns the new one in clear, once. */
export async function rotateSecret(db: Transaction, application: Application): Promise<string> {
  const client_secret = randomBytes(20).toString('hex')
  await db.query(sql`
    update applications set secret_digest = ${digest(client_secret)}, secret_last_eight = ${client_secret.slice(-8)}, updated_at = ${db.now}
    where id = ${application.id}`)
  return client_secret
}

/** All its tokens and grants go with it. */
export async function deleteApplication(db: Transaction, application: Application) {
  await db.query(sql`delete from applications where id = ${application.id}`)
}

function checkApplication({ name, url, callback_url }: NewApplication) {
  const fault = (field: string, message: string) => invalid({ resource: 'Application', code: 'invalid', field, message })
  if (name.trim() === '' || name.length > 100) throw fault('name', 'A name has 1 to 100 characters.')
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '') || url.length > 500)
    throw fault('url', 'The home page is an http or https address.')
  if (!isCallback(callback_url) || callback_url.length > 500) {
    throw fault('callback_url', 'The callback is an absolute address without user-info and fragment.')
  }
}
