import { createHash } from 'node:crypto'
import type { Account } from '#identity/accounts.ts'
import type { Application } from '#identity/clients.ts'
import { type Queryable, sql, type Transaction } from '#platform/database.ts'
import { digest, randomText, sameSecret } from '#platform/secrets.ts'

interface NewCode {
  application: Application
  user: Account
  redirect_uri: string
  scopes: string[]
  code_challenge: string | null
}

const lifetime = sql`interval '10 minutes'`
const hour = sql`interval '1 hour'`

/** Returns the code in clear text. */
export async function issueCode(db: Transaction, { application, user, redirect_uri, scopes, code_challenge }: NewCode) {
  const code = randomText(32)
  // `countNewTokens` needs the codes of the last hour only.
  await db.query(sql`delete from authorization_codes where expires_at < ${db.now}::timestamptz - ${hour}`)
  await db.query(sql`
    insert into authorization_codes (digest, application_id, user_id, redirect_uri, scopes, code_challenge, created_at, expires_at)
    values (${digest(code)}, ${application.id}, ${user.id}, ${redirect_uri}, ${scopes}, ${code_challenge}, ${db.now},
      ${db.now}::timestamptz + ${lifetime})`)
  return code
}

/** The number of tokens that an application got for a user within the last hour, including deleted ones. */
export async function countNewTokens(db: Queryable, application: Application, user: Account): Promise<number> {
  const found = await db.first<{ count: number }>(sql`
    select (select count(*) from authorization_codes c where c.application_id = ${application.id} and c.user_id = ${user.id}
        and c.used_at > ${db.now}::timestamptz - ${hour})
      + (select count(*) from tokens t where t.application_id = ${application.id} and t.user_id = ${user.id}
        and t.code_digest is null and t.created_at > ${db.now}::timestamptz - ${hour}) as count`)
  return found?.count ?? 0
}

export interface CodeRow {
  digest: Buffer
  user_id: number
  redirect_uri: string
  scopes: string[]
  code_challenge: string | null
  fresh: boolean
  used_at: Date | null
}

/** Locks the row, so that the second of two concurrent exchanges sees the first. A code of another client is not found. */
export function findCode(db: Transaction, application: Application, code: string): Promise<CodeRow | undefined> {
  return db.first<CodeRow>(sql`
    select c.digest, c.user_id, c.redirect_uri, c.scopes, c.code_challenge, c.used_at, c.expires_at > ${db.now} as fresh
    from authorization_codes c where c.digest = ${digest(code)} and c.application_id = ${application.id} for update`)
}

export async function spendCode(db: Transaction, code: CodeRow) {
  await db.query(sql`update authorization_codes set used_at = ${db.now} where digest = ${code.digest}`)
}

/** A code that is presented twice was stolen from one of the two clients, so its tokens and those refreshed from them are deleted. */
export async function endTokensOf(db: Transaction, application: Application, code: string) {
  await db.query(sql`delete from refresh_tokens where code_digest = ${digest(code)} and application_id = ${application.id}`)
  await db.query(sql`delete from tokens where code_digest = ${digest(code)} and application_id = ${application.id}`)
}

/** A challenge requires its verifier. A verifier without a challenge is refused. */
export function meetsChallenge(challenge: string | null, verifier: string | undefined) {
  if (challenge === null) return verifier === undefined
  if (verifier === undefined || !/^[\w.~-]{43,128}$/.test(verifier)) return false
  return sameSecret(createHash('sha256').update(verifier).digest('base64url'), challenge)
}
