import { type Account, accountColumns, type Sight } from '#hosting/people/people.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { digest, verifyPassword } from '#platform/secrets.ts'
import { expandScopes } from './scopes.ts'

/** Who is calling, how they showed it, and what that lets them do. */
export interface Caller extends Sight {
  user: Account | null
  via: 'nothing' | 'token' | 'password'
  /** The token's scopes as they are shown; null for callers without one. */
  scopes: readonly string[] | null
  may(scope: string): boolean
}

export const anonymous: Caller = {
  user: null,
  via: 'nothing',
  scopes: null,
  viewer_id: null,
  sees_private: false,
  may: () => false,
}

export const badCredentials = () => new Refusal('bad_credentials', 'Bad credentials')

/** Reads an `Authorization` header: `token`, `Bearer` or `Basic`, in any case. */
export async function authenticate(db: Queryable, header: string): Promise<Caller> {
  const [, scheme = '', value = ''] = /^(\S+)\s+(\S+)\s*$/.exec(header) ?? []
  switch (scheme.toLowerCase()) {
    case 'token':
    case 'bearer':
      return authenticateToken(db, value)
    case 'basic':
      return authenticateBasic(db, Buffer.from(value, 'base64').toString())
    default:
      throw badCredentials()
  }
}

/** A token may stand in for the password, or for the name with no password or the word that old clients send. */
async function authenticateBasic(db: Queryable, pair: string) {
  const colon = pair.indexOf(':')
  if (colon < 0) throw badCredentials()
  const [name, password] = [pair.slice(0, colon), pair.slice(colon + 1)]
  if (looksLikeToken(password)) return authenticateToken(db, password, name)
  if (password === '' || password === 'x-oauth-basic') return authenticateToken(db, name)
  // The operator's own token may have any form.
  return (await findByToken(db, password, name)) ?? authenticatePassword(db, name, password)
}

function looksLikeToken(text: string) {
  return /^bf[a-z]_/.test(text)
}

async function authenticateToken(db: Queryable, token: string, name?: string): Promise<Caller> {
  const caller = await findByToken(db, token, name)
  if (!caller) throw badCredentials()
  return caller
}

/** What tools send as a name when only the token matters. */
const anyName = new Set(['', 'x-access-token', 'x-oauth-basic', 'oauth2'])

/** With a name beside it, the token must be that person's. */
async function findByToken(db: Queryable, token: string, name = ''): Promise<Caller | undefined> {
  const found = await db.first<Account & { scopes: string[] }>(sql`
    select ${accountColumns}, t.scopes from tokens t join accounts a on a.id = t.user_id
    where t.digest = ${digest(token)} and a.suspended_at is null and (t.expires_at is null or t.expires_at > ${db.now})`)
  if (!found || !(anyName.has(name) || name.toLowerCase() === found.login.toLowerCase())) return undefined
  const { scopes, ...user } = found
  const held = expandScopes(scopes)
  return {
    user,
    via: 'token',
    scopes,
    viewer_id: user.id,
    sees_private: held.has('repo'),
    may: (scope) => held.has(scope),
  }
}

async function authenticatePassword(db: Queryable, login: string, password: string): Promise<Caller> {
  // The database takes no null character, and nobody's name or password has one.
  if (login.includes('\0')) throw badCredentials()
  const found = await db.first<Account & { password_hash: string | null }>(sql`
    select ${accountColumns}, a.password_hash from accounts a
    where lower(a.login) = lower(${login}) and a.type = 'User' and a.suspended_at is null`)
  if (!(await verifyPassword(found?.password_hash, password)) || !found) throw badCredentials()
  const { password_hash: _, ...user } = found
  return { user, via: 'password', scopes: null, viewer_id: user.id, sees_private: true, may: () => true }
}
