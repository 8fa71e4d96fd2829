import { sql, type Transaction } from '#platform/database.ts'
import { digest, newToken } from '#platform/secrets.ts'
import type { Account } from './accounts.ts'
import type { TokenFacts } from './callers.ts'
import type { Application } from './clients.ts'
import { normaliseScopes } from './scopes.ts'

export interface Token {
  id: number
  user_id: number
  digest: Buffer
  last_eight: string
  kind: TokenFacts['kind'] | 'installation' | 'app_user'
  application_id: number | null
  note: string | null
  note_url: string | null
  fingerprint: string | null
  scopes: string[]
  expires_at: Date | null
  created_at: Date
  updated_at: Date
}

export interface NewToken {
  note: string | null
  scopes: readonly string[]
  note_url?: string | null
  fingerprint?: string | null
  /** Null for a personal token. */
  application_id?: number | null
  /** The authorization code that was exchanged for it. */
  code_digest?: Buffer
  impersonation?: boolean
  /** Set by the operator; random otherwise. */
  token?: string
}

/** Returns the token in clear text, which is not stored. */
export async function createToken(
  db: Transaction,
  user: Pick<Account, 'id'>,
  wanted: NewToken,
): Promise<Token & { token: string }> {
  const { note, note_url = null, fingerprint = null, application_id = null, code_digest = null, impersonation = false } = wanted
  const token = wanted.token ?? newToken(application_id === null ? 'bfp_' : 'bfo_')
  const kind = application_id === null ? 'classic' : 'oauth'
  const scopes = normaliseScopes(wanted.scopes)
  const row = await db.first<Token>(sql`
    insert into tokens (user_id, digest, last_eight, kind, application_id, code_digest, note, note_url, fingerprint, scopes,
      impersonation, created_at, updated_at)
    values (${user.id}, ${digest(token)}, ${token.slice(-8)}, ${kind}, ${application_id}, ${code_digest}, ${note}, ${note_url}, ${fingerprint}, ${scopes},
      ${impersonation}, ${db.now}, ${db.now})
    returning *`)
  if (!row) throw new Error('a token was not stored')
  if (application_id !== null) await keepTen(db, user.id, application_id, scopes)
  return { ...row, token }
}

/** How long a token of an app for a user is valid, in seconds. */
export const appUserLifetime = 8 * 3600

/** A token by which an app acts for a user, in the repositories that the app is installed on. */
export async function createAppUserToken(
  db: Transaction,
  user: Pick<Account, 'id'>,
  application: Application,
  code_digest: Buffer | null,
): Promise<{ id: number; token: string }> {
  const token = newToken('bfu_')
  const { id } = await db.load<{ id: number }>(sql`
    insert into tokens (user_id, digest, last_eight, kind, application_id, app_id, code_digest, scopes, permissions, resource_owner_id, expires_at,
      created_at, updated_at)
    values (${user.id}, ${digest(token)}, ${token.slice(-8)}, 'app_user', ${application.id}, ${application.app?.id}, ${code_digest}, ${[]}::text[],
      ${JSON.stringify(application.app?.permissions)}::jsonb, ${user.id}, ${db.now}::timestamptz + ${appUserLifetime} * interval '1 second',
      ${db.now}, ${db.now})
    returning id`)
  await keepTen(db, user.id, application.id, [])
  return { id, token }
}

/**
 * A user has at most ten tokens per application and set of scopes; the eleventh deletes the oldest. Ordered by id, because a request that waited
 * for others has an earlier date than theirs, and must not delete its own new token.
 */
async function keepTen(db: Transaction, user_id: number, application_id: number, scopes: string[]) {
  await db.query(sql`
    delete from tokens where id in (
      select id from tokens where user_id = ${user_id} and application_id = ${application_id} and scopes = ${scopes}::text[]
      order by id desc offset 10)`)
}

export async function deleteImpersonationTokens(db: Transaction, user: Account) {
  const { rowCount } = await db.query(sql`delete from tokens where user_id = ${user.id} and impersonation`)
  return rowCount ?? 0
}

/** Only the operator's token has this note. */
export const operators = 'BELFRY_ADMIN_TOKEN'

/** Sets the site admin's token. A new one replaces the old one, null removes it. */
export async function setOperatorsToken(db: Transaction, admin: Account, token: string | null, scopes: readonly string[]) {
  await db.query(sql`delete from tokens where user_id = ${admin.id} and note = ${operators}`)
  if (token) await createToken(db, admin, { note: operators, scopes, token })
}
