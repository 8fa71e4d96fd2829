import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { NullableString, NullableTimestamp, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import type { Account } from '#identity/accounts.ts'
import type { Token } from '#identity/tokens.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { GrantedApplication } from './authorizations.ts'

const App = Type.Object({ name: Type.String(), url: Type.String(), client_id: Type.String() })

export const Authorization = Type.Object(
  {
    id: Type.Integer(),
    url: Type.String(),
    app: App,
    token: Type.String(),
    hashed_token: NullableString,
    token_last_eight: NullableString,
    note: NullableString,
    note_url: NullableString,
    scopes: Type.Array(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
    expires_at: NullableTimestamp,
    fingerprint: NullableString,
    user: SimpleUser,
  },
  { title: 'Authorization' },
)

/** A token with its application, if it has one. Only the call that creates a token shows it in clear text. */
type ShownToken = Token & { app?: Static<typeof App> | null; token?: string }

export function authorizationJson(token: ShownToken, user: Account, wire: Wire): Static<typeof Authorization> {
  return {
    id: token.id,
    url: `${wire.api}/authorizations/${token.id}`,
    app: token.app ?? { name: token.note ?? '', url: `${wire.web}/docs`, client_id: '0'.repeat(20) },
    token: token.token ?? '',
    hashed_token: token.digest.toString('hex'),
    token_last_eight: token.last_eight,
    note: token.note,
    note_url: token.note_url,
    scopes: token.scopes,
    created_at: timestamp(token.created_at),
    updated_at: timestamp(token.updated_at),
    expires_at: token.expires_at && timestamp(token.expires_at),
    fingerprint: token.fingerprint,
    user: userJson(user, wire),
  }
}

export const GrantSchema = Type.Object(
  {
    id: Type.Integer(),
    url: Type.String(),
    app: App,
    created_at: Timestamp,
    updated_at: Timestamp,
    scopes: Type.Array(Type.String()),
    user: SimpleUser,
  },
  { title: 'ApplicationGrant' },
)

export function grantJson(grant: GrantedApplication, user: Account, wire: Wire): Static<typeof GrantSchema> {
  return {
    id: grant.id,
    url: `${wire.api}/applications/grants/${grant.id}`,
    app: grant.app,
    created_at: timestamp(grant.created_at),
    updated_at: timestamp(grant.updated_at),
    scopes: grant.scopes,
    user: userJson(user, wire),
  }
}
