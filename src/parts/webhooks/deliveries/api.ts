import { Answer, type Endpoint, get, group, post } from '#http/endpoint.ts'
import { text } from '#http/input.ts'
import { Nothing } from '#http/serialization.ts'
import { targetOf } from '#parts/webhooks/hook-target.ts'
import { loadHook } from '#parts/webhooks/hooks.ts'
import { ofEachTarget, type TargetType, targetTypes } from '#parts/webhooks/target-types.ts'
import { Type } from '#platform/schema.ts'
import { readCursor } from './cursors.ts'
import { listDeliveries, loadDelivery, readStatus, redeliver, resendLatestPush } from './deliveries.ts'
import { DeliveryItemSchema, DeliverySchema, deliveryItemJson, deliveryJson } from './json.ts'

const Accepted = Type.Object({}, { title: 'Accepted' })

const endpointsOf = ({ prefix, names, reads, writes }: TargetType): Endpoint[] => [
  get(
    `${prefix}/hooks/{hook_id}/deliveries`,
    {
      ...reads,
      operation: `${names}/list-webhook-deliveries`,
      refuses: ['malformed'],
      summary: 'Deliveries of a webhook in the last thirty days, newest first',
      query: { cursor: text(), status: text() },
      list: 'by cursor',
      answers: { 200: Type.Array(DeliveryItemSchema) },
    },
    async ({ db, params, query, page, wire, ...context }) => {
      const hook = await loadHook(db, targetOf(context), params.hook_id)
      const wanted = { status: readStatus(query.status), cursor: readCursor(query.cursor), limit: page.limit }
      const { rows, ...cursors } = await listDeliveries(db, hook, wanted)
      return new Answer(
        rows.map((row) => deliveryItemJson(row, wire)),
        { cursors },
      )
    },
  ),
  get(
    `${prefix}/hooks/{hook_id}/deliveries/{delivery_id}`,
    {
      ...reads,
      operation: `${names}/get-webhook-delivery`,
      refuses: ['malformed'],
      summary: 'Get a delivery with its request and response',
      answers: { 200: DeliverySchema },
    },
    async ({ db, params, wire, ...context }) => {
      const hook = await loadHook(db, targetOf(context), params.hook_id)
      return deliveryJson(await loadDelivery(db, hook, params.delivery_id), hook, wire)
    },
  ),
  post(
    `${prefix}/hooks/{hook_id}/deliveries/{delivery_id}/attempts`,
    {
      ...writes,
      operation: `${names}/redeliver-webhook-delivery`,
      refuses: ['malformed'],
      summary: 'Redeliver a payload with the same guid to the current url',
      answers: { 202: Accepted },
    },
    async ({ db, params, ...context }) => {
      const hook = await loadHook(db, targetOf(context), params.hook_id)
      await redeliver(db, hook, await loadDelivery(db, hook, params.delivery_id))
      return {}
    },
  ),
]

/** The second is the former name of the first. */
const tests = [
  ['tests', 'repos/test-push-webhook'],
  ['test', 'repos/test-push-webhook-by-old-name'],
] as const

export const api = group('Webhook deliveries', [
  ...ofEachTarget(endpointsOf),
  ...tests.map(([name, operation]) =>
    post(
      `/repos/{owner}/{repo}/hooks/{hook_id}/${name}`,
      {
        ...targetTypes.repository.reads,
        operation,
        summary: 'Send the latest push again if the webhook subscribes to pushes',
        own_transaction: true,
        answers: { 204: Nothing },
      },
      async ({ db, storage, repo, params }) =>
        resendLatestPush(db, storage, repo, await loadHook(db, targetOf({ repo }), params.hook_id)),
    ),
  ),
])
