import type { Belfry } from '#belfry.ts'
import { created, del, type Endpoint, type Group, get, group, paged, patch, post } from '#http/endpoint.ts'
import { Nothing } from '#http/serialization.ts'
import { checkWritable } from '#identity/access.ts'
import { type Policy, policyFor } from '#platform/outbound/policy.ts'
import { Type } from '#platform/schema.ts'
import type { Vault } from '#platform/vault.ts'
import { createHook } from './create.ts'
import { deleteHook } from './delete.ts'
import { pingHook } from './hook-events.ts'
import { targetOf } from './hook-target.ts'
import { listHooks, loadHook } from './hooks.ts'
import { configJson, HookConfig, hookJson } from './json.ts'
import { type TargetType, targetTypes } from './target-types.ts'
import { resumeHook } from './throttling.ts'
import { updateConfig, updateHook } from './update.ts'

const config = {
  url: Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 2048 }),
  content_type: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  secret: Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 1024 }),
  insecure_ssl: Type.Unsafe<string | number | null>({ type: ['string', 'number', 'null'] }),
}
const Config = Type.Partial(Type.Object(config))
const Events = Type.Array(Type.String({ maxLength: 100 }), { maxItems: 250 })
const options = { name: Type.String(), config: Config, events: Events, active: Type.Boolean() }
const HookChanges = Type.Partial(Type.Object({ ...options, add_events: Events, remove_events: Events }))

/** Unknown fields are refused, because a misspelled one would create a hook with defaults. */
const only = { additionalProperties: false }
const NewHook = Type.Object(Type.Partial(Type.Object(options)).properties, only)
const ConfigChanges = Type.Object(Config.properties, only)

export const webhookApi = ({ vault, settings }: Belfry): Group => {
  const policy = policyFor(settings.BELFRY_HOST, settings.BELFRY_WEBHOOK_ADDRESSES)
  return group(
    'Webhooks',
    Object.values(targetTypes).flatMap((kind) => endpointsOf(kind, vault, policy)),
  )
}

/** Repositories and organizations have the same endpoints. */
const endpointsOf = (
  { prefix, names, short, of, schema, reads, writes, deletes }: TargetType,
  vault: Vault,
  policy: Policy,
): Endpoint[] => [
  get(
    `${prefix}/hooks`,
    {
      ...reads,
      operation: `${names}/list-webhooks`,
      summary: `Webhooks of ${of}, oldest first`,
      list: true,
      answers: { 200: Type.Array(schema) },
    },
    async ({ db, page, wire, ...context }) => {
      const target = targetOf(context)
      return paged(await listHooks(db, target, page), (hook) => hookJson(hook, target, wire))
    },
  ),
  post(
    `${prefix}/hooks`,
    {
      ...writes,
      operation: `${names}/create-webhook`,
      summary: 'Create a webhook and send it a `ping`',
      body: NewHook,
      answers: { 201: schema },
    },
    async ({ db, viewer, body, wire, ...context }) => {
      const target = targetOf(context)
      if (target.type === 'repository') checkWritable(context.repo)
      return created(hookJson(await createHook(db, viewer, target, body, vault, policy), target, wire))
    },
  ),
  get(
    `${prefix}/hooks/{hook_id}`,
    { ...reads, operation: `${names}/get-webhook`, summary: 'Get a webhook', answers: { 200: schema } },
    async ({ db, params, wire, ...context }) => {
      const target = targetOf(context)
      return hookJson(await loadHook(db, target, params.hook_id), target, wire)
    },
  ),
  patch(
    `${prefix}/hooks/{hook_id}`,
    {
      ...writes,
      operation: `${names}/update-webhook`,
      summary: 'Update a webhook; a config without a secret removes the secret',
      body: HookChanges,
      answers: { 200: schema },
    },
    async ({ db, viewer, params, body, wire, ...context }) => {
      const target = targetOf(context)
      return hookJson(await updateHook(db, viewer, target, { id: params.hook_id }, body, vault, policy), target, wire)
    },
  ),
  del(
    `${prefix}/hooks/{hook_id}`,
    {
      ...deletes,
      operation: `${names}/delete-webhook`,
      summary: 'Delete a webhook and its pending deliveries',
      answers: { 204: Nothing },
    },
    ({ db, viewer, params, ...context }) => deleteHook(db, viewer, targetOf(context), { id: params.hook_id }),
  ),
  get(
    `${prefix}/hooks/{hook_id}/config`,
    {
      ...reads,
      operation: `${names}/get-webhook-config-for-${short}`,
      summary: 'Get the config of a webhook; the secret is masked',
      answers: { 200: HookConfig },
    },
    async ({ db, params, ...context }) => configJson(await loadHook(db, targetOf(context), params.hook_id)),
  ),
  patch(
    `${prefix}/hooks/{hook_id}/config`,
    {
      ...writes,
      operation: `${names}/update-webhook-config-for-${short}`,
      summary: 'Update the config of a webhook; fields that are not given stay',
      body: ConfigChanges,
      answers: { 200: HookConfig },
    },
    async ({ db, viewer, params, body, ...context }) =>
      configJson(await updateConfig(db, viewer, targetOf(context), { id: params.hook_id }, body, vault, policy)),
  ),
  post(
    `${prefix}/hooks/{hook_id}/pings`,
    { ...reads, operation: `${names}/ping-webhook`, summary: 'Send a `ping`', answers: { 204: Nothing } },
    async ({ db, viewer, params, ...context }) => {
      const target = targetOf(context)
      await pingHook(db, viewer, target, await loadHook(db, target, params.hook_id))
    },
  ),
  post(
    `${prefix}/hooks/{hook_id}/resume`,
    {
      ...writes,
      operation: `${names}/resume-webhook`,
      summary: 'Send deliveries that were postponed because the receiver failed',
      answers: { 204: Nothing },
    },
    async ({ db, params, ...context }) => resumeHook(db, await loadHook(db, targetOf(context), params.hook_id)),
  ),
]
