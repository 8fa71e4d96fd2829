import type { Belfry } from '#belfry.ts'
import { created, del, type Endpoint, type Group, get, group, paged, patch, post } from '#http/endpoint.ts'
import { Nothing } from '#http/serialization.ts'
import { checkWritable } from '#identity/access.ts'
import { Type } from '#platform/schema.ts'
import { ConfigSchema } from './config.ts'
import { createHook, type HookDeps, hookDepsOf, NewHookSchema } from './create.ts'
import { deleteHook } from './delete.ts'
import { pingHook } from './hook-events.ts'
import { targetOf } from './hook-target.ts'
import { listHooks, loadHook } from './hooks.ts'
import { configJson, HookConfig, hookJson } from './json.ts'
import { ofEachTarget, type TargetType } from './target-types.ts'
import { resumeHook } from './throttling.ts'
import { HookChangesSchema, updateConfig, updateHook } from './update.ts'

export const webhookApi = (belfry: Belfry): Group =>
  group(
    'Webhooks',
    ofEachTarget((kind) => endpointsOf(kind, hookDepsOf(belfry))),
  )

const endpointsOf = ({ prefix, names, short, of, schema, reads, writes }: TargetType, deps: HookDeps): Endpoint[] => [
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
      body: NewHookSchema,
      answers: { 201: schema },
    },
    async ({ db, viewer, body, wire, ...context }) => {
      const target = targetOf(context)
      if (target.type === 'repository') checkWritable(context.repo)
      return created(hookJson(await createHook(db, viewer, target, body, deps), target, wire))
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
      body: HookChangesSchema,
      answers: { 200: schema },
    },
    async ({ db, viewer, params, body, wire, ...context }) => {
      const target = targetOf(context)
      return hookJson(await updateHook(db, viewer, target, params.hook_id, body, deps), target, wire)
    },
  ),
  del(
    `${prefix}/hooks/{hook_id}`,
    {
      ...writes,
      operation: `${names}/delete-webhook`,
      summary: 'Delete a webhook and its pending deliveries',
      answers: { 204: Nothing },
    },
    ({ db, viewer, params, ...context }) => deleteHook(db, viewer, targetOf(context), params.hook_id),
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
      body: Type.Object(ConfigSchema.properties, { additionalProperties: false }),
      answers: { 200: HookConfig },
    },
    async ({ db, viewer, params, body, ...context }) =>
      configJson(await updateConfig(db, viewer, targetOf(context), params.hook_id, body, deps)),
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
