import { type ActingApplication, recordAudit } from '#activity/audit.ts'
import { type Account, accountColumns } from '#identity/accounts.ts'
import type { Application } from '#identity/clients.ts'
import { normaliseScopes } from '#identity/scopes.ts'
import { appUserLifetime, createAppUserToken, createToken, type Token } from '#identity/tokens.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { digest, newToken } from '#platform/secrets.ts'
import type { IssuedToken } from './client-request.ts'
import { enqueueRevokedEvent } from './revoked-event.ts'

export interface Grant {
  id: number
  scopes: string[]
  created_at: Date
  updated_at: Date
}

type Id = { id: number }

const grantOf = (application: Id, user: Id) => sql`
  select id, scopes, created_at, updated_at from grants where application_id = ${application.id} and user_id = ${user.id}`

export function findGrant(db: Queryable, application: Id, user: Id): Promise<Grant | undefined> {
  return db.first<Grant>(grantOf(application, user))
}

/** Adds scopes to the grant. Locks the row, so that no concurrent consent is lost. */
export async function recordGrant(db: Transaction, application: Application, user: Account, scopes: string[]): Promise<Grant> {
  const { rowCount: made } = await db.query(sql`
    insert into grants (application_id, user_id, scopes, created_at, updated_at)
    values (${application.id}, ${user.id}, '{}', ${db.now}, ${db.now}) on conflict (application_id, user_id) do nothing`)
  const held = await lockGrant(db, application, user)
  if (!held) throw missing()
  const union = normaliseScopes([...held.scopes, ...scopes])
  await db.query(sql`update grants set scopes = ${union}, updated_at = ${db.now} where id = ${held.id}`)
  // An application that signs a user in again gets no more than it had.
  if (made || union.join() !== held.scopes.join())
    await recordAudit(db, user, 'oauth.authorize', `${user.login}: ${application.name}`)
  return { ...held, scopes: union }
}

/** Locks the grant: only the owner of the lock may issue tokens under it or end it. */
export function lockGrant(db: Transaction, application: Id, user: Id): Promise<Grant | undefined> {
  return db.first<Grant>(sql`${grantOf(application, user)} for update`)
}

interface NewOAuthToken {
  user_id: number
  scopes: string[]
  /** The code that it descends from, also by refreshing. */
  code_digest?: Buffer | null
}

/** Returns the token in clear text; undefined if the user has revoked the grant or is suspended. */
export async function issueToken(
  db: Transaction,
  application: Application,
  wanted: NewOAuthToken,
): Promise<IssuedToken | undefined> {
  const user = await db.first<{ id: number }>(sql`select id from accounts where id = ${wanted.user_id} and suspended_at is null`)
  if (!user || !(await lockGrant(db, application, user))) return undefined
  const { scopes, code_digest } = wanted
  if (application.app) return issueAppToken(db, application, user, code_digest ?? null)
  const { token } = await createToken(db, user, {
    note: null,
    application_id: application.id,
    scopes,
    ...(code_digest && { code_digest }),
  })
  return { access_token: token }
}

/** A token of an app expires, and comes with a refresh token. */
async function issueAppToken(
  db: Transaction,
  application: Application,
  user: Id,
  code_digest: Buffer | null,
): Promise<IssuedToken> {
  const { id, token } = await createAppUserToken(db, user, application, code_digest)
  const refresh_token = newToken('bfr_')
  await db.query(sql`
    delete from refresh_tokens where expires_at <= ${db.now} or digest in (
      select digest from refresh_tokens where application_id = ${application.id} and user_id = ${user.id} order by expires_at desc, digest offset 9)`)
  await db.query(sql`
    insert into refresh_tokens (digest, application_id, user_id, token_id, code_digest, expires_at)
    values (${digest(refresh_token)}, ${application.id}, ${user.id}, ${id}, ${code_digest}, ${db.now}::timestamptz + ${refreshLifetime} * interval '1 second')`)
  return { access_token: token, expires_in: appUserLifetime, refresh_token, refresh_token_expires_in: refreshLifetime }
}

/** Six months, in seconds. */
const refreshLifetime = 184 * 86_400

export type ApplicationToken = Token & { user: Account }

/** A valid token of this application. */
export async function loadToken(db: Queryable, application: Application, token: string): Promise<ApplicationToken> {
  const held = await db.first<Token>(sql`
    select t.* from tokens t where t.digest = ${digest(token)} and t.application_id = ${application.id}
      and (t.expires_at is null or t.expires_at > ${db.now})`)
  if (!held) throw missing()
  const user = await db.first<Account>(
    sql`select ${accountColumns} from accounts a where a.id = ${held.user_id} and a.suspended_at is null`,
  )
  if (!user) throw missing()
  return { ...held, user }
}

/** The old token is invalid at once. */
export async function resetToken(
  db: Transaction,
  application: ActingApplication,
  held: ApplicationToken,
): Promise<ApplicationToken & { token: string }> {
  const token = newToken(held.kind === 'app_user' ? 'bfu_' : 'bfo_')
  const row = await db.first<Token>(sql`
    update tokens set digest = ${digest(token)}, last_eight = ${token.slice(-8)}, updated_at = ${db.now}
    where id = ${held.id} and digest = ${held.digest} returning *`)
  if (!row) throw missing()
  await recordAudit(db, application, 'oauth.reset_token', held.user.login)
  return { ...row, user: held.user, token }
}

export async function deleteToken(db: Transaction, application: ActingApplication, { id, user }: ApplicationToken) {
  await recordAudit(db, application, 'oauth.delete_token', user.login)
  await db.query(sql`delete from refresh_tokens where token_id = ${id}`)
  await db.query(sql`delete from tokens where id = ${id}`)
}

/** Deletes the grant with its tokens, pending codes and the SSH keys that the application added. */
export async function revokeGrant(db: Transaction, application: Id, user: Account, actor: Account | ActingApplication) {
  const both = sql`application_id = ${application.id} and user_id = ${user.id}`
  await db.query(sql`delete from authorization_codes where ${both}`)
  await db.query(sql`delete from device_codes where ${both}`)
  const { rowCount } = await db.query(sql`delete from grants where ${both}`)
  if (rowCount) await enqueueRevokedEvent(db, application, user)
  const named = await db.first<{ name: string }>(sql`select name from applications where id = ${application.id}`)
  await recordAudit(db, actor, 'oauth.revoke', `${user.login}: ${named?.name}`)
  await db.query(sql`delete from refresh_tokens where ${both}`)
  await db.query(sql`delete from tokens where ${both}`)
  await db.query(sql`delete from ssh_keys where application_id = ${application.id} and added_by = ${user.id}`)
}

export interface AuthorizedApplication extends Pick<Application, 'client_id' | 'name' | 'url' | 'owner_login'> {
  scopes: string[]
  authorized_at: Date
  last_used_at: Date | null
}

/** The applications that a user has authorized, by name. */
export function listAuthorized(db: Queryable, user: Account): Promise<AuthorizedApplication[]> {
  return db.rows<AuthorizedApplication>(sql`
    select p.client_id, p.name, p.url, o.login as owner_login, g.scopes, g.created_at as authorized_at,
      (select max(t.last_used_at) from tokens t where t.application_id = p.id and t.user_id = g.user_id) as last_used_at
    from grants g join applications p on p.id = g.application_id join accounts o on o.id = p.owner_id
    where g.user_id = ${user.id} order by lower(p.name), p.id limit 100`)
}
