import type { Account } from '#hosting/people/people.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { digest, newToken } from '#platform/secrets.ts'
import { normaliseScopes } from './scopes.ts'

export interface Token {
  id: number
  user_id: number
  digest: Buffer
  last_eight: string
  note: string | null
  scopes: string[]
  expires_at: Date | null
  created_at: Date
  updated_at: Date
}

export interface NewToken {
  note: string
  scopes: readonly string[]
  impersonation?: boolean
  /** Given by the operator instead of made by us. */
  token?: string
}

/** The clear text is returned here, once, and kept nowhere. */
export async function createToken(db: Transaction, user: Account, wanted: NewToken): Promise<Token & { token: string }> {
  const token = wanted.token ?? newToken('bfp_')
  const scopes = normaliseScopes(wanted.scopes)
  const row = await db.first<Token>(sql`
    insert into tokens (user_id, digest, last_eight, note, scopes, impersonation, created_at, updated_at)
    values (${user.id}, ${digest(token)}, ${token.slice(-8)}, ${wanted.note}, ${scopes}, ${wanted.impersonation ?? false}, ${db.now}, ${db.now})
    returning *`)
  if (!row) throw new Error('a token was not stored')
  return { ...row, token }
}

export async function deleteImpersonationTokens(db: Transaction, user: Account) {
  const { rowCount } = await db.query(sql`delete from tokens where user_id = ${user.id} and impersonation`)
  return rowCount ?? 0
}

const operators = 'BELFRY_ADMIN_TOKEN'

/** The site admin's token as the operator sets it: a new one replaces the old, none removes it. */
export async function setOperatorsToken(db: Transaction, admin: Account, token: string | null, scopes: readonly string[]) {
  await db.query(sql`delete from tokens where user_id = ${admin.id} and note = ${operators}`)
  if (token) await createToken(db, admin, { note: operators, scopes, token })
}
