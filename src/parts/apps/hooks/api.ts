import type { Belfry } from '#belfry.ts'
import { Answer, type Group, get, group, patch, post } from '#http/endpoint.ts'
import { text } from '#http/input.ts'
import { changeAppHook, loadAppHook } from '#parts/apps/hook.ts'
import { ConfigSchema } from '#parts/webhooks/config.ts'
import { hookDepsOf } from '#parts/webhooks/create.ts'
import { readCursor } from '#parts/webhooks/deliveries/cursors.ts'
import { listDeliveries, loadDelivery, readStatus, redeliver } from '#parts/webhooks/deliveries/deliveries.ts'
import { DeliveryItemSchema, DeliverySchema, deliveryItemJson, deliveryJson } from '#parts/webhooks/deliveries/json.ts'
import { configJson, HookConfig } from '#parts/webhooks/json.ts'
import { Type } from '#platform/schema.ts'

const asApp = { permission: 'classic', viewer: 'app', refuses: ['missing'] } as const

export const appHookApi = (belfry: Belfry): Group =>
  group('App webhooks', [
    get(
      '/app/hook/config',
      {
        ...asApp,
        operation: 'apps/get-webhook-config-for-app',
        summary: 'Get the config of the webhook of the app; the secret is masked',
        answers: { 200: HookConfig },
      },
      async ({ db, app }) => configJson(await loadAppHook(db, app)),
    ),
    patch(
      '/app/hook/config',
      {
        ...asApp,
        operation: 'apps/update-webhook-config-for-app',
        summary: 'Update the config of the webhook of the app; fields that are not given stay',
        body: Type.Object(ConfigSchema.properties, { additionalProperties: false }),
        answers: { 200: HookConfig },
      },
      async ({ db, app, body }) => configJson(await changeAppHook(db, app, body, hookDepsOf(belfry))),
    ),
    get(
      '/app/hook/deliveries',
      {
        ...asApp,
        operation: 'apps/list-webhook-deliveries',
        refuses: ['malformed', 'missing'],
        summary: 'Deliveries of the webhook of the app in the last thirty days, newest first',
        query: { cursor: text(), status: text() },
        list: 'by cursor',
        answers: { 200: Type.Array(DeliveryItemSchema) },
      },
      async ({ db, app, query, page, wire }) => {
        const hook = await loadAppHook(db, app)
        const wanted = { status: readStatus(query.status), cursor: readCursor(query.cursor), limit: page.limit }
        const { rows, ...cursors } = await listDeliveries(db, hook, wanted)
        return new Answer(
          rows.map((row) => deliveryItemJson(row, wire)),
          { cursors },
        )
      },
    ),
    get(
      '/app/hook/deliveries/{delivery_id}',
      {
        ...asApp,
        operation: 'apps/get-webhook-delivery',
        refuses: ['malformed', 'missing'],
        summary: 'Get a delivery of the webhook of the app with its request and response',
        answers: { 200: DeliverySchema },
      },
      async ({ db, app, params, wire }) => {
        const hook = await loadAppHook(db, app)
        return deliveryJson(await loadDelivery(db, hook, params.delivery_id), hook, wire)
      },
    ),
    post(
      '/app/hook/deliveries/{delivery_id}/attempts',
      {
        ...asApp,
        operation: 'apps/redeliver-webhook-delivery',
        refuses: ['malformed', 'missing'],
        summary: 'Redeliver a payload with the same guid to the current url of the app',
        answers: { 202: Type.Object({}, { title: 'Accepted' }) },
      },
      async ({ db, app, params }) => {
        const hook = await loadAppHook(db, app)
        await redeliver(db, hook, await loadDelivery(db, hook, params.delivery_id))
        return {}
      },
    ),
  ])
