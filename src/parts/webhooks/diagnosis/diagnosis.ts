import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import type { SecureContext } from 'node:tls'
import { fillIn } from '#activity/outbox/addresses.ts'
import { listening } from '#activity/outbox/outbox.ts'
import { unaddressed } from '#hosting/payloads/payload-context.ts'
import { userJson } from '#hosting/people/json.ts'
import type { Account } from '#identity/accounts.ts'
import { pingBody } from '#parts/webhooks/hook-events.ts'
import type { HookTarget } from '#parts/webhooks/hook-target.ts'
import type { Hook } from '#parts/webhooks/hooks.ts'
import { openSecrets } from '#parts/webhooks/secrets.ts'
import { encodeBody, headersOf, sign } from '#parts/webhooks/signing.ts'
import { resumeHook } from '#parts/webhooks/throttling.ts'
import type { Database, Queryable } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import type { Policy } from '#platform/outbound/policy.ts'
import type { Vault } from '#platform/vault.ts'
import { probeSteps, runProbe, type StepResult, skippedStep } from './probe.ts'

export interface DiagnosisOptions {
  vault: Vault
  policy: Policy
  trusted: () => SecureContext
  agent: string
  /** For the whole exchange, in seconds. */
  timeout: number
  /** The number of running diagnoses by hook. */
  running: Map<number, number>
}

/** Concurrent diagnoses of one hook. Without a limit, a slow receiver would let a caller open any number of connections. */
const most = 3

export const steps = [...probeSteps, 'signature'] as const
type StepName = (typeof steps)[number]

export interface Diagnosis {
  steps: StepResult<StepName>[]
  ok: boolean
  failed: StepName | null
}

/** Sends a ping like a delivery without recording it, and reports each step. If all succeed, postponed deliveries are sent too. */
export async function diagnose(
  db: Database,
  options: DiagnosisOptions,
  web: string,
  sender: Account,
  target: HookTarget,
  hook: Hook,
): Promise<Diagnosis> {
  const { running } = options
  const count = running.get(hook.id) ?? 0
  if (count >= most) throw new Refusal('rate_limited', `${most} diagnoses of this webhook are running. Wait until one ends.`)
  running.set(hook.id, count + 1)
  try {
    const diagnosis = await runDiagnosis(db, options, web, sender, target, hook)
    if (diagnosis.ok) await db.transaction((transaction) => resumeHook(transaction, hook))
    return diagnosis
  } finally {
    const left = (running.get(hook.id) ?? 1) - 1
    if (left) running.set(hook.id, left)
    else running.delete(hook.id)
  }
}

async function runDiagnosis(
  db: Queryable,
  { vault, policy, trusted, agent, timeout }: DiagnosisOptions,
  web: string,
  sender: Account,
  target: HookTarget,
  hook: Hook,
): Promise<Diagnosis> {
  const { url, content_type, insecure_ssl } = hook
  const secrets = tryOpenSecrets(vault, hook, db.now)
  if (!secrets) return conclude([...probeSteps.map((step) => skippedStep(step)), unreadable])
  const guid = randomUUID()
  const payload = { ...(await pingBody(db, target, hook)), sender: userJson(sender, unaddressed) }
  const body = encodeBody(fillIn(JSON.stringify(payload), web), content_type)
  const signed = sign(body, guid, { content_type, agent, ...secrets, sent_at: db.now })
  const headers = headersOf({ guid, event: 'ping' }, hook, signed)
  const signature = () => checkSignature(body, signed['X-Hub-Signature-256'], secrets.secret)
  if (url === listening) return conclude([...probeSteps.map((step) => skippedStep(step, nothingSent)), signature()])
  const gone = await runProbe({ url, policy, insecure_ssl, trusted, timeout, headers, body })
  const sent = gone.some(({ step, ok }) => step === 'http' && ok !== null)
  return conclude([...gone, sent ? signature() : skippedStep('signature')])
}

const nothingSent = `Nothing is sent to ${listening}: clients of the stream receive the deliveries.`

function tryOpenSecrets(vault: Vault, hook: Hook, now: Date) {
  try {
    return openSecrets(vault, hook, now)
  } catch {
    return undefined
  }
}

const unreadable: StepResult<'signature'> = {
  ...{ step: 'signature', ok: false, duration: 0 },
  message: "The secret cannot be decrypted, because the key in the server's data folder has changed. Set the secret again.",
}

/** Verifies the signature as a receiver does. */
function checkSignature(body: Buffer, header: string | undefined, secret: string | null): StepResult<'signature'> {
  if (secret === null) return skippedStep('signature', 'There is no secret, so receivers cannot verify the sender.')
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
  const found = Buffer.from(header ?? '')
  const ok = found.length === expected.length && timingSafeEqual(found, expected)
  const message = ok
    ? 'X-Hub-Signature-256 matches the body and the secret. If the receiver disagrees, it has another secret or changes the body.'
    : 'X-Hub-Signature-256 does not match the body and the secret.'
  return { step: 'signature', ok, message, duration: 0 }
}

function conclude(gone: StepResult<StepName>[]): Diagnosis {
  const failed = gone.find(({ ok }) => ok === false)?.step ?? null
  return { steps: gone, ok: failed === null, failed }
}
