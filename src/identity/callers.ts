import { hash } from 'node:crypto'
import { CheckedCache } from '#platform/checked-cache.ts'
import { type Database, sql } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { digest } from '#platform/secrets.ts'
import type { Topic } from '#platform/topics.ts'
import type { Vault } from '#platform/vault.ts'
import { type Account, accountColumns, type Viewer } from './accounts.ts'
import { guessAtAccount } from './login-throttle.ts'
import { checkPassword } from './passwords.ts'
import {
  type AppPermissions,
  accessByPermissions,
  allows,
  lowerPermissions,
  type Permission,
  type Permissions,
  permissionsOfApp,
} from './permissions.ts'
import { expandScopes } from './scopes.ts'
import { type Delivery, findDelivery, type SendText, sendCode, spendCode } from './two-factor.ts'

/** The token of a request. */
export interface TokenFacts {
  id: number
  /** Tokens of apps are limited like fine-grained tokens. */
  kind: 'classic' | 'fine_grained' | 'oauth'
  /** Set if it acts as the bot of an app, in the repositories of this installation. */
  installation_id: number | null
  /** Set if it acts for a user, in the repositories that the app is installed on. */
  app_id: number | null
  application_id: number | null
  client_id: string | null
  permissions: Permissions
  /** The account that a fine-grained token has access to: the user, an organization, or the account of the installation. */
  resource_owner_id: number | null
  expires_at: Date | null
}

/** The authenticated caller of a request, and what the credentials permit. */
export interface Caller extends Viewer {
  user: Account | null
  /** `session`: this process makes the request for a visitor of its pages, see http/visitor-request.ts. */
  via: 'nothing' | 'token' | 'password' | 'session'
  /** Whether the credentials came as Basic authentication. */
  basic: boolean
  token: TokenFacts | null
  /** Null for fine-grained tokens and callers without a token. */
  scopes: readonly string[] | null
  /** A digest of the account and of what its token permits: it changes when they do. Empty without a token. */
  edition: string
  may(scope: string): boolean
}

export const anonymous: Caller = {
  user: null,
  via: 'nothing',
  basic: false,
  token: null,
  scopes: null,
  edition: '',
  viewer_id: null,
  sees_private: false,
  token_id: null,
  may: () => false,
}

export const badCredentials = () => new Refusal('bad_credentials', 'Bad credentials')

/** The password was right, but the account also needs a one-time code. */
export class CodeRequired extends Refusal {
  readonly delivery: Delivery
  constructor(delivery: Delivery) {
    super('unauthenticated', 'Must specify two-factor authentication OTP code.')
    this.delivery = delivery
  }
}

/** Most endpoints accept no code, so they do not ask for one, and no text message is sent. */
const tokenRequired = () =>
  new Refusal('unauthenticated', 'This account has a second factor. Use a personal access token instead of the password.')

/** The credentials of a request. */
export interface Credentials {
  authorization: string
  address: string
  /** The one-time code, if the request has one; null if its endpoint accepts none. */
  code: string | undefined | null
}

interface Resources {
  db: Database
  vault: Vault
  send_text: SendText
}

export class Authenticator {
  readonly #resources: Resources
  readonly #callers: CheckedCache<Caller | undefined>
  /** The last token of each connection, because hashing it again for every poll takes a tenth of a 304. */
  readonly #keys = new WeakMap<object, { authorization: string; key: string }>()

  constructor(resources: Resources) {
    this.#resources = resources
    this.#callers = new CheckedCache(resources.db, 16 * 1024 * 1024)
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

  /** The caller with this token, if nothing was committed since it was last read. */
  peek(authorization: string, connection: object): Caller | undefined {
    const key = this.#keyOf(authorization, connection)
    return key === undefined ? undefined : this.#unlessExpired(this.#callers.peek(key))
  }

  /** The user whom this token was last found to belong to. Nothing may be sent before it is authenticated. */
  likelyCaller(authorization: string, connection: object): Caller | undefined {
    const key = this.#keyOf(authorization, connection)
    return key === undefined ? undefined : this.#callers.likely(key)
  }

  #keyOf(authorization: string, connection: object) {
    const last = this.#keys.get(connection)
    if (last?.authorization === authorization) return last.key
    const key = keyOf(authorization)
    // Passwords are not kept.
    if (key !== undefined) this.#keys.set(connection, { authorization, key })
    return key
  }

  /** A token may be sent as the password, or as the name with an empty password or `x-oauth-basic`. */
  async #byBasic({ name, password }: Pair, credentials: Credentials) {
    if (looksLikeToken(password)) return this.#byToken(password, name)
    if (password === '' || password === 'x-oauth-basic') return this.#byToken(name)
    // The operator's token may have any form.
    return (await this.#findByToken(password, name)) ?? this.#byPassword({ name, password }, credentials)
  }

  async #byToken(token: string, name?: string): Promise<Caller> {
    const caller = await this.#findByToken(token, name)
    if (!caller) throw badCredentials()
    return caller
  }

  /** If the client sends a name too, the token must belong to that user. */
  async #findByToken(token: string, name = ''): Promise<Caller | undefined> {
    const { db } = this.#resources
    const key = digest(token)
    const caller = await this.#callers.getOrLoad(key.toString('latin1'), async () => {
      const value = await loadTokenCaller(db, key)
      return { value, topics: value && topicsOf(value), bytes: 1000 }
    })
    if (!caller?.user) return undefined
    if (!anyName.has(name) && name.toLowerCase() !== caller.user.login.toLowerCase()) return undefined
    return this.#unlessExpired(caller)
  }

  #unlessExpired(caller: Caller | undefined) {
    const { expires_at } = caller?.token ?? {}
    return expires_at && expires_at <= this.#resources.db.now ? undefined : caller
  }

  async #byPassword({ name, password }: Pair, { address, code }: Credentials): Promise<Caller> {
    const { db, vault, send_text } = this.#resources
    const user = await checkPassword(db, { login: name, address }, password)
    if (!user) throw badCredentials()
    const delivery = await findDelivery(db, user)
    if (delivery && code === null) throw tokenRequired()
    if (delivery) {
      // Codes are short, so wrong codes count like wrong passwords.
      const right = typeof code === 'string' && (await guessAtAccount(db, user, address, () => spendCode(db, vault, user, code)))
      if (code === undefined && delivery === 'sms') await sendCode(db, send_text, user)
      if (!right) throw new CodeRequired(delivery)
    }
    return { ...anonymous, user, via: 'password', viewer_id: user.id, sees_private: true, may: () => true }
  }
}

/** The key of a token in the cache of callers. Undefined for other credentials. */
function keyOf(authorization: string) {
  const [, token] = /^(?:token|bearer)\s+(\S+)\s*$/i.exec(authorization) ?? []
  return token === undefined ? undefined : digest(token).toString('latin1')
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

/** Names that tools send when only the token matters. */
const anyName = new Set(['', 'x-access-token', 'x-oauth-basic', 'oauth2'])

type TokenKind = TokenFacts['kind'] | 'installation' | 'app_user'
type TokenRow = Account &
  Omit<TokenFacts, 'id' | 'kind' | 'permissions'> & {
    kind: TokenKind
    token_id: number
    scopes: string[]
    permissions: object | null
    /** For a token of an app, the permissions that limit it. */
    accepted: AppPermissions[] | null
    last_used_at: Date | null
  }

/**
 * A token of an installation is limited to what the account has accepted. A token by which an app acts for a user is limited to what the
 * app has, and to what was accepted on every account where the user may have access.
 */
const acceptedPermissions = sql`case t.kind
  when 'installation' then json_build_array(i.permissions)
  when 'app_user' then (
    select json_agg(held.permissions) from (
      select x.permissions from apps x where x.id = t.app_id
      union select n.permissions from installations n where n.app_id = t.app_id and n.suspended_at is null and (n.account_id = t.user_id
        or n.account_id in (select m.org_id from memberships m where m.user_id = t.user_id)
        or n.account_id in (select r.owner_id from collaborators l join repositories r on r.id = l.repo_id where l.user_id = t.user_id))) held)
  end as accepted`

/** For scopes that only make more visible, the permission with the same effect for fine-grained tokens. */
const inPlaceOf: Record<string, Permission> = { repo: 'metadata:read', 'read:user': 'profile:read', 'read:org': 'members:read' }

/** What a caller depends on. */
const topicsOf = ({ token, user }: Caller): Topic[] => ['w', `k${token?.id ?? 0}`, `a${user?.id ?? 0}`]

async function loadTokenCaller(db: Database, key: Buffer): Promise<Caller | undefined> {
  const [found] = await db.genericPlanRows<TokenRow>(sql`
    select ${accountColumns}, t.id as token_id, t.kind, t.scopes, t.permissions, t.resource_owner_id, t.application_id, t.expires_at, t.last_used_at,
      t.installation_id, t.app_id, p.client_id, ${acceptedPermissions}
    from tokens t join accounts a on a.id = t.user_id left join applications p on p.id = t.application_id
      left join installations i on i.id = t.installation_id
    where t.digest = ${key} and a.suspended_at is null and i.suspended_at is null
      and (t.kind not in ('installation', 'app_user') or app_is_enabled(coalesce(i.app_id, t.app_id)))`)
  if (!found) return undefined
  const { token_id, kind, scopes, permissions, accepted, expires_at, last_used_at, client_id, ...rest } = found
  const { resource_owner_id, application_id, installation_id, app_id, ...user } = rest
  if (!last_used_at || db.now.getTime() - last_used_at.getTime() > 60_000) {
    await db.query(sql`update tokens set last_used_at = ${db.now} where id = ${token_id}`)
  }
  const ofApp = kind === 'installation' || kind === 'app_user'
  const fine = kind === 'fine_grained' || ofApp
  const limited = (accepted ?? []).reduce(lowerPermissions, (permissions ?? {}) as AppPermissions)
  const allowed: Permissions = ofApp ? permissionsOfApp(limited) : (permissions ?? {})
  const held = expandScopes(scopes)
  return {
    user,
    via: 'token',
    basic: false,
    token: {
      id: token_id,
      kind: ofApp ? 'fine_grained' : kind,
      installation_id,
      app_id,
      application_id,
      client_id,
      permissions: allowed,
      resource_owner_id,
      expires_at,
    },
    scopes: fine ? null : scopes,
    edition: hash('sha1', JSON.stringify({ ...found, last_used_at: null }), 'base64'),
    viewer_id: user.id,
    sees_private: fine ? allows(allowed, 'metadata:read') : held.has('repo'),
    token_id: fine ? token_id : null,
    installation_access: installation_id === null ? null : accessByPermissions(allowed),
    may: fine ? (scope) => allows(allowed, inPlaceOf[scope] ?? 'classic') : (scope) => held.has(scope),
  }
}
