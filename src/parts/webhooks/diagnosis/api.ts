import type { SecureContext } from 'node:tls'
import type { Belfry } from '#belfry.ts'
import { type Endpoint, type Group, group, post } from '#http/endpoint.ts'
import { placeOf } from '#parts/webhooks/hook-target.ts'
import { NullableBoolean, NullableString } from '#http/serialization.ts'
import { loadHook } from '#parts/webhooks/hooks.ts'
import { type Kind, kinds } from '#parts/webhooks/target-types.ts'
import { trusting } from '#platform/outbound/agent.ts'
import { policyFor } from '#platform/outbound/policy.ts'
import { Type } from '#platform/schema.ts'
import { type Diagnosing, diagnose, steps } from './diagnosis.ts'

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

export const diagnosingApi = (belfry: Belfry): Group =>
  group(
    'Webhook diagnosis',
    Object.values(kinds).map((kind) => endpointOf(kind, diagnosingOf(belfry))),
  )

const known = new WeakMap<Belfry, Diagnosing>()

/** Of each server one, for its interface and its pages. */
export function diagnosingOf(belfry: Belfry): Diagnosing {
  const diagnosing = known.get(belfry) ?? openDiagnosing(belfry)
  known.set(belfry, diagnosing)
  return diagnosing
}

function openDiagnosing({ vault, version, settings }: Belfry): Diagnosing {
  let context: SecureContext | undefined
  return {
    vault,
    policy: policyFor(settings.BELFRY_HOST, settings.BELFRY_WEBHOOK_ADDRESSES),
    trusted: () => {
      context ??= trusting(settings.BELFRY_CA)
      return context
    },
    agent: `Belfry-Hookshot/${version}`,
    timeout: settings.BELFRY_WEBHOOK_TIMEOUT,
    running: new Map(),
  }
}

const endpointOf = ({ prefix, names, reads }: Kind, diagnosing: Diagnosing): Endpoint =>
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
      return diagnose(db, diagnosing, wire.web, viewer, place, hook)
    },
  )
