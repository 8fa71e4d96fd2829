import type { SecureContext } from 'node:tls'
import type { Belfry } from '#belfry.ts'
import { type Endpoint, type Group, group, post } from '#http/endpoint.ts'
import { NullableBoolean, NullableString } from '#http/serialization.ts'
import { targetOf } from '#parts/webhooks/hook-target.ts'
import { loadHook } from '#parts/webhooks/hooks.ts'
import { type TargetType, targetTypes } from '#parts/webhooks/target-types.ts'
import { trusting } from '#platform/outbound/agent.ts'
import { policyFor } from '#platform/outbound/policy.ts'
import { Type } from '#platform/schema.ts'
import { type DiagnosisOptions, diagnose, steps } from './diagnosis.ts'

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

export const diagnosisApi = (belfry: Belfry): Group =>
  group(
    'Webhook diagnosis',
    Object.values(targetTypes).map((kind) => endpointOf(kind, diagnosisOptionsOf(belfry))),
  )

const known = new WeakMap<Belfry, DiagnosisOptions>()

/** Shared by the endpoints and the pages of a server, so that `running` counts both. */
export function diagnosisOptionsOf(belfry: Belfry): DiagnosisOptions {
  const options = known.get(belfry) ?? openDiagnosisOptions(belfry)
  known.set(belfry, options)
  return options
}

function openDiagnosisOptions({ vault, version, settings }: Belfry): DiagnosisOptions {
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

const endpointOf = ({ prefix, names, reads }: TargetType, options: DiagnosisOptions): Endpoint =>
  post(
    `${prefix}/hooks/{hook_id}/diagnose`,
    {
      ...reads,
      operation: `${names}/diagnose-webhook`,
      summary: 'Send a signed `ping` without recording it, and report which step fails',
      own_transaction: true,
      answers: { 200: DiagnosisSchema },
    },
    async ({ db, viewer, params, wire, ...context }) => {
      const target = targetOf(context)
      const hook = await loadHook(db, target, params.hook_id)
      return diagnose(db, options, wire.web, viewer, target, hook)
    },
  )
