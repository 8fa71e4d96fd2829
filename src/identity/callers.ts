import { type Database, sql } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { ReadCache } from '#platform/read-cache.ts'
import { digest } from '#platform/secrets.ts'
import type { Vault } from '#platform/vault.ts'
import { type Account, accountColumns, type Sight } from './accounts.ts'
import { guessAtAccount } from './login-throttle.ts'
import { checkPassword } from './passwords.ts'
import { allows, type Permission, type Permissions } from './permissions.ts'
import { expandScopes } from './scopes.ts'
import { type Delivery, findDelivery, type SendText, sendCode, spendCode } from './two-factor.ts'

/** What is known of the token that a caller came with. */
export interface TokenFacts {
  id: number
  kind: 'classic' | 'fine_grained' | 'oauth'
  application_id: number | null
  client_id: string | null
  permissions: Permissions
  /** The account that a fine-grained token is for: the user's own, or an organization's. */
  resource_owner_id: number | null
  expires_at: Date | null
}

/** Who is calling, how they showed it, and what that lets them do. */
export interface Caller extends Sight {
  user: Account | null
  via: 'nothing' | 'token' | 'password'
  /** Whether it came as a name and a password, be that one or a token in its place. */
  basic: boolean
  token: TokenFacts | null
  /** The token's scopes as they are shown; null for callers without any. */
  scopes: readonly string[] | null
  may(scope: string): boolean
}

export const anonymous: Caller = {
  user: null,
  via: 'nothing',
  basic: false,
  token: null,
  scopes: null,
  viewer_id: null,
  sees_private: false,
  token_id: null,
  may: () => false,
}

export const badCredentials = () => new Refusal('bad_credentials', 'Bad credentials')

/** The password was right, and a one-time code is needed besides; `delivery` says where it comes from. */
export class CodeRequired extends Refusal {
  readonly delivery: Delivery
  constructor(delivery: Delivery) {
    super('unauthenticated', 'Must specify two-factor authentication OTP code.')
    this.delivery = delivery
  }
}

/** What a request brings along. A code counts only where the endpoint takes passwords and nothing else. */
export interface Credentials {
  authorization: string
  address: string
  code: string | undefined
}

interface Resources {
  db: Database
  vault: Vault
  send_text: SendText
}

export class Authenticator {
  readonly #resources: Resources
  readonly #callers: ReadCache<Caller | undefined>

  constructor(resources: Resources) {
    this.#resources = resources
    this.#callers = new ReadCache(resources.db)
  }

  /** Reads an `Authorization` header: `token`, `Bearer` or `Basic`, in any case. */
  async authenticate(credentials: Credentials): Promise<Caller> {
    const [, scheme = '', value = ''] = /^(\S+)\s+(\S+)\s*$/.exec(credentials.authorization) ?? []
    switch (scheme.toLowerCase()) {
      case 'token':
      case 'bearer':
        return this.#byToken(value)
      case 'basic':
        return { ...(await this.#byBasic(readPair(value), credentials)), basic: true }
      default:
        throw badCredentials()
    }
  }

  /** A token may stand in for the password, or for the name with no password or the word that old clients send. */
  async #byBasic({ name, password }: Pair, credentials: Credentials) {
    if (looksLikeToken(password)) return this.#byToken(password, name)
    if (password === '' || password === 'x-oauth-basic') return this.#byToken(name)
    // The operator's own token may have any form.
    return (await this.#findByToken(password, name)) ?? this.#byPassword({ name, password }, credentials)
  }

  async #byToken(token: string, name?: string): Promise<Caller> {
    const caller = await this.#findByToken(token, name)
    if (!caller) throw badCredentials()
    return caller
  }

  /** With a name beside it, the token must be that person's. */
  async #findByToken(token: string, name = ''): Promise<Caller | undefined> {
    const { db } = this.#resources
    const key = digest(token)
    const caller = await this.#callers.getOrLoad(key.toString('latin1'), () => loadTokenCaller(db, key))
    if (!caller?.user) return undefined
    if (!anyName.has(name) && name.toLowerCase() !== caller.user.login.toLowerCase()) return undefined
    const { expires_at } = caller.token ?? {}
    return expires_at && expires_at <= db.now ? undefined : caller
  }

  async #byPassword({ name, password }: Pair, { address, code }: Credentials): Promise<Caller> {
    const { db, vault, send_text } = this.#resources
    const user = await checkPassword(db, { login: name, address }, password)
    if (!user) throw badCredentials()
    const delivery = await findDelivery(db, user)
    if (delivery) {
      // Codes are short: wrong ones count as wrong passwords do.
      const right =
        code !== undefined && (await guessAtAccount(db, { login: user.login, address }, () => spendCode(db, vault, user, code)))
      if (code === undefined && delivery === 'sms') await sendCode(db, send_text, user)
      if (!right) throw new CodeRequired(delivery)
    }
    return { ...anonymous, user, via: 'password', viewer_id: user.id, sees_private: true, may: () => true }
  }
}

interface Pair {
  name: string
  password: string
}

export function readPair(encoded: string): Pair {
  const pair = Buffer.from(encoded, 'base64').toString()
  const colon = pair.indexOf(':')
  if (colon < 0) throw badCredentials()
  return { name: pair.slice(0, colon), password: pair.slice(colon + 1) }
}

function looksLikeToken(text: string) {
  return /^bf[a-z]_/.test(text)
}

/** What tools send as a name when only the token matters. */
const anyName = new Set(['', 'x-access-token', 'x-oauth-basic', 'oauth2'])

type TokenRow = Account & Omit<TokenFacts, 'id'> & { token_id: number; scopes: string[]; last_used_at: Date | null }

/** Where a scope only widens what is seen, this permission widens it for a fine-grained token; no other scope has one. */
const inPlaceOf: Record<string, Permission> = { repo: 'metadata:read', 'read:user': 'profile:read', 'read:org': 'members:read' }

async function loadTokenCaller(db: Database, key: Buffer): Promise<Caller | undefined> {
  const found = await db.first<TokenRow>(sql`
    select ${accountColumns}, t.id as token_id, t.kind, t.scopes, t.permissions, t.resource_owner_id, t.application_id, t.expires_at, t.last_used_at, p.client_id
    from tokens t join accounts a on a.id = t.user_id left join applications p on p.id = t.application_id
    where t.digest = ${key} and a.suspended_at is null`)
  if (!found) return undefined
  const { token_id, kind, scopes, permissions, resource_owner_id, application_id, expires_at, last_used_at, client_id, ...user } =
    found
  if (!last_used_at || db.now.getTime() - last_used_at.getTime() > 60_000) {
    await db.query(sql`update tokens set last_used_at = ${db.now} where id = ${token_id}`)
  }
  const fine = kind === 'fine_grained'
  const held = expandScopes(scopes)
  return {
    user,
    via: 'token',
    basic: false,
    token: { id: token_id, kind, application_id, client_id, permissions: permissions ?? {}, resource_owner_id, expires_at },
    scopes: fine ? null : scopes,
    viewer_id: user.id,
    sees_private: fine ? allows(permissions ?? {}, 'metadata:read') : held.has('repo'),
    token_id: fine ? token_id : null,
    may: fine ? (scope) => allows(permissions ?? {}, inPlaceOf[scope] ?? 'classic') : (scope) => held.has(scope),
  }
}
