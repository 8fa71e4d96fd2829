import type { Application } from '#identity/clients.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { digest } from '#platform/secrets.ts'
import type { Failed, Issued } from './client-request.ts'
import { issueToken } from './grants.ts'

/** Exchanges a refresh token for a new token and a new refresh token. The old ones are invalid at once. */
export async function refresh(db: Transaction, application: Application, text: string): Promise<Issued | Failed> {
  const used = await db.first<{ user_id: number; token_id: number | null; code_digest: Buffer | null }>(sql`
    delete from refresh_tokens where digest = ${digest(text)} and application_id = ${application.id} and expires_at > ${db.now}
    returning user_id, token_id, code_digest`)
  if (!used) return { error: 'bad_refresh_token' }
  await db.query(sql`delete from tokens where id = ${used.token_id}`)
  const issued = await issueToken(db, application, { user_id: used.user_id, scopes: [], code_digest: used.code_digest })
  return issued ? { ...issued, scopes: [] } : { error: 'bad_refresh_token' }
}
