import type { Belfry } from '#belfry.ts'
import { type Endpoint, type Group, get, group, post } from '#http/endpoint.ts'
import { Nothing } from '#http/serialization.ts'
import { targetOf } from '#parts/webhooks/hook-target.ts'
import { loadHook } from '#parts/webhooks/hooks.ts'
import { ofEachTarget, type TargetType } from '#parts/webhooks/target-types.ts'
import { followDeliveries, type SigningContext } from './delivery-stream.ts'
import { DeliveryMessageSchema } from './json.ts'
import { ReportSchema, reportOutcome } from './report.ts'

export const listeningApi = ({ vault, version }: Belfry): Group => {
  const signing = { vault, agent: `Belfry-Hookshot/${version}` }
  return group(
    'Webhook streams',
    ofEachTarget((kind) => endpointsOf(kind, signing)),
  )
}

const endpointsOf = ({ prefix, names, reads, writes }: TargetType, signing: Omit<SigningContext, 'web'>): Endpoint[] => [
  get(
    `${prefix}/hooks/{hook_id}/deliveries/stream`,
    {
      ...reads,
      operation: `${names}/follow-webhook-deliveries`,
      summary:
        'Stream deliveries with headers and body; for a webhook to belfry:listen, pending ones. `Last-Event-ID` resumes the stream',
      streamed: true,
      answers: { 200: DeliveryMessageSchema },
    },
    async ({ db, params, following = null, wire, ...context }) => {
      const hook = await loadHook(db, targetOf(context), params.hook_id)
      return followDeliveries(db, { ...signing, web: wire.web }, hook, following)
    },
  ),
  post(
    `${prefix}/hooks/{hook_id}/deliveries/{delivery_id}/outcome`,
    {
      ...writes,
      operation: `${names}/report-webhook-outcome`,
      refuses: ['malformed'],
      summary: 'Report the outcome of a delivery of a webhook to belfry:listen',
      body: ReportSchema,
      own_transaction: true,
      answers: { 204: Nothing },
    },
    async ({ db, params, body, wire, ...context }) => {
      const hook = await loadHook(db, targetOf(context), params.hook_id)
      await reportOutcome(db, { ...signing, web: wire.web }, hook, params.delivery_id, body)
    },
  ),
]
