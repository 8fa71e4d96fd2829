import type { SecureContext } from 'node:tls'
import type { Belfry } from '#belfry.ts'
import { NullableBoolean, NullableString } from '#hosting/wire.ts'
import { type Endpoint, type Group, group, post } from '#http/endpoint.ts'
import { loadHook } from '#parts/webhooks/hooks.ts'
import { type Kind, kinds } from '#parts/webhooks/kinds.ts'
import { placeOf } from '#parts/webhooks/places.ts'
import { trusting } from '#parts/webhooks/sending/transport.ts'
import { Refusal } from '#platform/errors.ts'
import { policyFor } from '#platform/outbound/policy.ts'
import { Type } from '#platform/schema.ts'
import { type Diagnosing, diagnose, steps } from './diagnosing.ts'

const DiagnosisSchema = Type.Object(
  {
    steps: Type.Array(
      Type.Object({
        step: Type.Unsafe<(typeof steps)[number]>({ type: 'string', enum: steps }),
        ok: NullableBoolean,
        message: Type.String(),
        duration: Type.Unsafe<number>({ type: 'number' }),
      }),
    ),
    ok: Type.Boolean(),
    failed: NullableString,
  },
  { title: 'HookDiagnosis' },
)

/** So many of one hook at the same time: whoever asks faster than a receiver answers would hold ever more connections. */
const most = 3

export const diagnosingApi = ({ vault, version, settings }: Belfry): Group => {
  let context: SecureContext | undefined
  const diagnosing = {
    vault,
    policy: policyFor(settings.BELFRY_HOST, settings.BELFRY_WEBHOOK_ADDRESSES),
    trusted: () => {
      context ??= trusting(settings.BELFRY_WEBHOOK_CA)
      return context
    },
    agent: `Belfry-Hookshot/${version}`,
    timeout: settings.BELFRY_WEBHOOK_TIMEOUT,
  }
  const running = new Map<number, number>()
  return group(
    'Webhook diagnosis',
    Object.values(kinds).map((kind) => endpointOf(kind, diagnosing, running)),
  )
}

const endpointOf = (
  { prefix, names, reads }: Kind,
  diagnosing: Omit<Diagnosing, 'web'>,
  running: Map<number, number>,
): Endpoint =>
  post(
    `${prefix}/hooks/{hook_id}/diagnose`,
    {
      ...reads,
      operation: `${names}/diagnose-webhook`,
      summary: 'Send a signed `ping` that is recorded nowhere, and tell which step of the way fails',
      own_transaction: true,
      answers: { 200: DiagnosisSchema },
    },
    async ({ db, viewer, params, wire, ...context }) => {
      const place = placeOf(context)
      const hook = await loadHook(db, place, params.hook_id)
      const count = running.get(hook.id) ?? 0
      if (count >= most)
        throw new Refusal('rate_limited', `This webhook is being diagnosed ${most} times already. Wait for an answer.`)
      running.set(hook.id, count + 1)
      try {
        return await diagnose(db, { ...diagnosing, web: wire.web }, viewer, place, hook)
      } finally {
        const left = (running.get(hook.id) ?? 1) - 1
        if (left) running.set(hook.id, left)
        else running.delete(hook.id)
      }
    },
  )
