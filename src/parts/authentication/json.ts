import { type Static, Type } from 'typebox'
import { SimpleUser, userJson } from '#hosting/people/json.ts'
import type { Account } from '#hosting/people/people.ts'
import { NullableString, NullableTimestamp, Timestamp, timestamp, type Wire } from '#hosting/wire.ts'
import type { Token } from './tokens.ts'

export const Authorization = Type.Object(
  {
    id: Type.Integer(),
    url: Type.String(),
    app: Type.Object({ name: Type.String(), url: Type.String(), client_id: Type.String() }),
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

export function authorizationJson(token: Token & { token: string }, user: Account, wire: Wire): Static<typeof Authorization> {
  return {
    id: token.id,
    url: `${wire.api}/authorizations/${token.id}`,
    app: { name: token.note ?? '', url: `${wire.web}/docs`, client_id: '0'.repeat(20) },
    token: token.token,
    hashed_token: token.digest.toString('hex'),
    token_last_eight: token.last_eight,
    note: token.note,
    note_url: null,
    scopes: token.scopes,
    created_at: timestamp(token.created_at),
    updated_at: timestamp(token.updated_at),
    expires_at: token.expires_at && timestamp(token.expires_at),
    fingerprint: null,
    user: userJson(user, wire),
  }
}
