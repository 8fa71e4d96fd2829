import { type Administrator, recordAudit } from '#activity/audit.ts'
import type { Account } from '#identity/accounts.ts'
import { isScope } from '#identity/scopes.ts'
import { createToken, type Token } from '#identity/tokens.ts'
import { type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'

export type ListedToken = Pick<Token, 'id' | 'kind' | 'note' | 'scopes' | 'last_eight' | 'expires_at' | 'created_at'> & {
  login: string
  application: string | null
  last_used_at: Date | null
}

/** Tokens of all users or of one, the newest first. */
export function listTokens(db: Queryable, user: Account | null, slice: Slice): Promise<Listed<ListedToken>> {
  return listed(
    db,
    {
      columns: sql`t.id, u.login, t.kind, t.note, a.name as application, t.scopes, t.last_eight, t.expires_at, t.last_used_at, t.created_at`,
      source: sql`tokens t join accounts u on u.id = t.user_id left join applications a on a.id = t.application_id
        ${user ? sql`where t.user_id = ${user.id}` : sql``}`,
      order: sql`t.id desc`,
    },
    slice,
  )
}

/** A classic token that acts for a user. The clear text is returned once. */
export async function createTokenByAdmin(
  db: Transaction,
  admin: Administrator,
  user: Account,
  { note, scopes }: { note: string; scopes: readonly string[] },
) {
  checkScopes(scopes)
  const token = await createToken(db, user, { note, scopes, impersonation: true })
  await recordAudit(db, admin, 'user.impersonate', user.login)
  return token
}

export function checkScopes(scopes: readonly string[]) {
  const unknown = scopes.filter((scope) => !isScope(scope))
  if (!unknown.length) return
  throw invalid({ resource: 'OauthAccess', code: 'invalid', field: 'scopes', message: `there is no scope ${unknown.join(', ')}` })
}

/** Revokes one token by its id. */
export async function revokeToken(db: Transaction, admin: Administrator, id: number): Promise<{ id: number; login: string }> {
  const [revoked] = await deleteTokens(db, sql`id = ${id}`)
  if (!revoked) throw missing()
  await recordAudit(db, admin, 'token.revoke', `${revoked.login} token ${id}`)
  return revoked
}

/** Revokes all tokens of a user, of every kind. Returns how many there were. */
export async function revokeAllTokens(db: Transaction, admin: Administrator, user: Account): Promise<number> {
  const revoked = await deleteTokens(db, sql`user_id = ${user.id}`)
  await db.query(sql`delete from refresh_tokens where user_id = ${user.id}`)
  await recordAudit(db, admin, 'token.revoke_all', user.login)
  return revoked.length
}

/** With their refresh tokens, which could otherwise be exchanged for new ones. */
async function deleteTokens(db: Transaction, condition: Sql): Promise<{ id: number; login: string }[]> {
  await db.query(sql`delete from refresh_tokens where token_id in (select id from tokens where ${condition})`)
  return db.rows<{ id: number; login: string }>(sql`
    with gone as (delete from tokens where ${condition} returning id, user_id)
    select g.id, a.login from gone g join accounts a on a.id = g.user_id`)
}
