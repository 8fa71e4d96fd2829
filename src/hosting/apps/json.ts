import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { Address, NullableString, nodeId, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import type { App } from '#identity/apps.ts'
import { type Static, Type } from '#platform/schema.ts'

export const Permissions = Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } })

export const integration = {
  id: Type.Integer(),
  slug: Type.String(),
  node_id: Type.String(),
  client_id: Type.String(),
  owner: SimpleUser,
  name: Type.String(),
  description: NullableString,
  external_url: Type.String(),
  html_url: Address,
  created_at: Timestamp,
  updated_at: Timestamp,
  permissions: Permissions,
  events: Type.Array(Type.String()),
  installations_count: Type.Optional(Type.Integer()),
}

export const Integration = Type.Object(integration, { title: 'Integration' })

export function appJson(app: App, wire: Wire, installations_count?: number): Static<typeof Integration> {
  const owner = { id: app.owner_id, login: app.owner_login, type: app.owner_type, site_admin: app.owner_site_admin }
  return {
    id: app.id,
    slug: app.slug,
    node_id: nodeId('Integration', app.id),
    client_id: app.client_id,
    owner: userJson(owner, wire),
    name: app.name,
    description: app.description,
    external_url: app.url,
    html_url: `${wire.web}/apps/${app.slug}`,
    created_at: timestamp(app.created_at),
    updated_at: timestamp(app.updated_at),
    permissions: app.permissions,
    events: app.events,
    ...(installations_count !== undefined && { installations_count }),
  }
}
