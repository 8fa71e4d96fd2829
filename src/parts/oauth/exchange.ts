import { type Application, findClient } from '#identity/clients.ts'
import type { Database, Transaction } from '#platform/database.ts'
import type { ClientRequest, Failed, Issued, Parameters } from './client-request.ts'
import { type CodeRow, endTokensOf, findCode, meetsChallenge, spendCode } from './codes.ts'
import { exchangeDeviceCode } from './device.ts'
import { issueToken } from './grants.ts'
import { isSameAddress } from './redirects.ts'
import { refresh } from './refresh-tokens.ts'

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

export async function exchange(db: Database, { parameters, address }: ClientRequest): Promise<Issued | Failed> {
  const { grant_type = 'authorization_code', client_id = '', client_secret = '' } = parameters
  if (grant_type === deviceGrant) return exchangeDeviceCode(db, { parameters, address })
  if (grant_type !== 'authorization_code' && grant_type !== 'refresh_token') return { error: 'unsupported_grant_type' }
  const application = await findClient(db, { client_id, client_secret, address })
  if (!application) return { error: 'incorrect_client_credentials' }
  if (grant_type === 'refresh_token') {
    // Tokens of OAuth applications do not expire.
    if (!application.app) return { error: 'unsupported_grant_type' }
    return db.transaction((transaction) => refresh(transaction, application, parameters.refresh_token ?? ''))
  }
  return db.transaction((transaction) => exchangeCode(transaction, application, parameters))
}

/** The steps from a code to a token, in order. */
async function exchangeCode(db: Transaction, application: Application, parameters: Parameters): Promise<Issued | Failed> {
  const { code: text = '', redirect_uri, code_verifier } = parameters
  const code = await findCode(db, application, text)
  if (!code || code.used_at) {
    await endTokensOf(db, application, text)
    return { error: 'bad_verification_code' }
  }
  if (!code.fresh) return { error: 'bad_verification_code' }
  if (redirect_uri !== undefined && !isSameAddress(redirect_uri, code.redirect_uri)) return { error: 'redirect_uri_mismatch' }
  if (!meetsChallenge(code.code_challenge, code_verifier)) return { error: 'bad_verification_code' }
  await spendCode(db, code)
  return give(db, application, code)
}

async function give(db: Transaction, application: Application, { user_id, scopes, digest }: CodeRow): Promise<Issued | Failed> {
  const issued = await issueToken(db, application, { user_id, scopes, code_digest: digest })
  return issued ? { ...issued, scopes } : { error: 'bad_verification_code' }
}
