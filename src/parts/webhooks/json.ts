import { Address, NullableString, NullableTimestamp, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { HookTarget } from './hook-target.ts'
import type { Hook } from './hooks.ts'
import { secretMask } from './secrets.ts'

const config = { content_type: Type.String(), insecure_ssl: Type.String(), url: Type.String() }

const own = {
  type: Type.String(),
  id: Type.Integer(),
  name: Type.String(),
  active: Type.Boolean(),
  paused_reason: Type.Optional(Type.String()),
  paused_at: Type.Optional(NullableTimestamp),
  events: Type.Array(Type.String()),
  config: Type.Object(config),
  updated_at: Timestamp,
  created_at: Timestamp,
  url: Address,
}
const others = { ping_url: Address, deliveries_url: Address }

const LastResponse = Type.Object(
  { code: Type.Unsafe<number | null>({ type: ['integer', 'null'] }), status: Type.String(), message: NullableString },
  { title: 'WebhookResponse', nullable: true },
)

export const RepositoryHook = Type.Object(
  { ...own, test_url: Address, ...others, last_response: Type.Unsafe<Static<typeof LastResponse> | null>(LastResponse) },
  { title: 'Webhook' },
)

export const OrganizationHook = Type.Object({ ...own, ...others }, { title: 'OrganizationWebhook' })

const types: Record<HookTarget['type'], string> = { repository: 'Repository', organization: 'Organization', integration: 'App' }

/** Never contains the secret. */
export function hookJson(hook: Hook, target: HookTarget, wire: Wire): Static<typeof OrganizationHook | typeof RepositoryHook> {
  const url = `${wire.api}/${target.path}/hooks/${hook.id}`
  const { secret, ...shown } = configJson(hook)
  return {
    type: types[target.type],
    id: hook.id,
    name: 'web',
    active: hook.active,
    // Only when the hook is paused, because the public API does not have these fields.
    ...(hook.paused_reason && { paused_reason: hook.paused_reason, paused_at: hook.paused_at && timestamp(hook.paused_at) }),
    events: hook.events,
    config: shown,
    updated_at: timestamp(hook.updated_at),
    created_at: timestamp(hook.created_at),
    url,
    ...(target.type === 'repository' && { test_url: `${url}/test` }),
    ping_url: `${url}/pings`,
    deliveries_url: `${url}/deliveries`,
    ...(target.type === 'repository' && { last_response: lastResponseJson(hook) }),
  }
}

function lastResponseJson({ last_code, last_status, last_message, quiet }: Hook): Static<typeof LastResponse> | null {
  return quiet ? null : { code: last_code, status: last_status ?? 'unused', message: last_message }
}

export const HookConfig = Type.Object({ ...config, secret: Type.Optional(Type.String()) }, { title: 'WebhookConfig' })

export function configJson({ content_type, insecure_ssl, secret, url }: Hook): Static<typeof HookConfig> {
  return { content_type, insecure_ssl: insecure_ssl ? '1' : '0', ...(secret && { secret: secretMask }), url }
}
