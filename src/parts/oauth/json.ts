import { Timestamp, timestamp } from '#http/serialization.ts'
import type { Application } from '#identity/clients.ts'
import { type Static, Type } from '#platform/schema.ts'

export const NewApplicationJson = Type.Object(
  {
    id: Type.Integer(),
    client_id: Type.String(),
    client_secret: Type.String(),
    name: Type.String(),
    url: Type.String(),
    callback_url: Type.String(),
    owner: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'OAuthApplication' },
)

export function applicationJson(application: Application & { client_secret: string }): Static<typeof NewApplicationJson> {
  return {
    id: application.id,
    client_id: application.client_id,
    client_secret: application.client_secret,
    name: application.name,
    url: application.url,
    callback_url: application.callback_url,
    owner: application.owner_login,
    created_at: timestamp(application.created_at),
    updated_at: timestamp(application.updated_at),
  }
}
