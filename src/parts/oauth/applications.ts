import { randomBytes } from 'node:crypto'
import { type Administrator, recordAudit } from '#activity/audit.ts'
import type { Account } from '#identity/accounts.ts'
import { type Application, loadApplication, selectApplications } from '#identity/clients.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import { digest } from '#platform/secrets.ts'
import { isWebAddress } from '#platform/web-address.ts'
import { isCallback } from './redirects.ts'

export type NewApplication = Pick<Application, 'name' | 'url' | 'callback_url'> &
  Partial<Pick<Application, 'description' | 'strict_redirect'>>

/** Set by the operator; random otherwise. */
export interface FixedClient {
  client_id?: string | undefined
  client_secret?: string | undefined
}

/** Returns the secret in clear text, which is not stored. */
export async function createApplication(
  db: Transaction,
  actor: Administrator,
  owner: Account,
  wanted: NewApplication,
  fixed: FixedClient = {},
): Promise<Application & { client_secret: string }> {
  checkApplication(wanted)
  const { client_id = randomBytes(10).toString('hex'), client_secret = randomBytes(20).toString('hex') } = fixed
  await db.query(sql`
    insert into applications (client_id, secret_digest, secret_last_eight, owner_id, name, url, description, callback_url, strict_redirect,
      created_at, updated_at)
    values (${client_id}, ${digest(client_secret)}, ${client_secret.slice(-8)}, ${owner.id}, ${wanted.name}, ${wanted.url},
      ${wanted.description ?? null}, ${wanted.callback_url}, ${wanted.strict_redirect ?? false}, ${db.now}, ${db.now})`)
  await recordAudit(db, actor, 'application.create', `${owner.login}: ${wanted.name}`)
  return { ...(await loadApplication(db, client_id)), client_secret }
}

export function listApplications(db: Queryable, owner: Account): Promise<Application[]> {
  return db.rows<Application>(sql`${selectApplications} where p.owner_id = ${owner.id}
    and not exists (select from apps x where x.application_id = p.id) order by lower(p.name), p.id limit 100`)
}

export async function updateApplication(
  db: Transaction,
  actor: { id: number },
  application: Application,
  changes: Partial<NewApplication>,
): Promise<Application> {
  const next = { ...application, ...changes }
  checkApplication(next)
  await db.query(sql`
    update applications set name = ${next.name}, url = ${next.url}, description = ${next.description}, callback_url = ${next.callback_url},
      strict_redirect = ${next.strict_redirect}, updated_at = ${db.now} where id = ${application.id}`)
  await recordAudit(db, actor, 'application.update', `${application.owner_login}: ${next.name}`)
  return loadApplication(db, application.client_id)
}

/** The old secret is invalid at once. Returns the new one in clear text, which is not stored. */
export async function rotateSecret(db: Transaction, actor: { id: number }, application: Application): Promise<string> {
  const client_secret = randomBytes(20).toString('hex')
  await db.query(sql`
    update applications set secret_digest = ${digest(client_secret)}, secret_last_eight = ${client_secret.slice(-8)}, updated_at = ${db.now}
    where id = ${application.id}`)
  await recordAudit(db, actor, 'application.rotate_secret', `${application.owner_login}: ${application.name}`)
  return client_secret
}

/** Its tokens and grants are deleted too. */
export async function deleteApplication(db: Transaction, actor: { id: number }, application: Application) {
  await db.query(sql`delete from applications where id = ${application.id}`)
  await recordAudit(db, actor, 'application.delete', `${application.owner_login}: ${application.name}`)
}

function checkApplication({ name, url, callback_url }: NewApplication) {
  const fault = (field: string, message: string) => invalid({ resource: 'Application', code: 'invalid', field, message })
  if (name.trim() === '' || name.length > 100) throw fault('name', 'A name has 1 to 100 characters.')
  if (!isWebAddress(url) || url.length > 500) throw fault('url', 'The home page is an http or https address.')
  if (!isCallback(callback_url) || callback_url.length > 500) {
    throw fault(
      'callback_url',
      'The callback is an absolute address without user-info, fragment, and the parameters code, state and error.',
    )
  }
}
