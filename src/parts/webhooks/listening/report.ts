import { listening } from '#activity/outbox/outbox.ts'
import { checkDeliveryId } from '#parts/webhooks/deliveries/deliveries.ts'
import type { Hook } from '#parts/webhooks/hooks.ts'
import { cut } from '#parts/webhooks/sending/exchange.ts'
import { responseStatus } from '#parts/webhooks/sending/failures.ts'
import { type Outcome, recordIn } from '#parts/webhooks/sending/outcomes.ts'
import { type Database, sql } from '#platform/database.ts'
import { invalid, missing } from '#platform/errors.ts'
import { type Static, Type } from '#platform/schema.ts'
import { readPending, type SigningContext, signOffer } from './delivery-stream.ts'

/** The outcome of a delivery, as a client of the stream reports it: a response, or why there was none. */
export const ReportSchema = Type.Partial(
  Type.Object({
    status_code: Type.Integer({ minimum: 100, maximum: 999 }),
    /** In seconds. */
    duration: Type.Unsafe<number>({ type: 'number', minimum: 0, maximum: 3600 }),
    headers: Type.Unsafe<Record<string, string>>({
      type: 'object',
      maxProperties: 5000,
      additionalProperties: { type: 'string', maxLength: 32_768 },
    }),
    body: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    error: Type.String({ minLength: 1, maxLength: 200 }),
  }),
)
export type Report = Static<typeof ReportSchema>

/** Records the outcome of a pending delivery as if we had sent it. A second report finds no pending delivery and is a 404. */
export async function reportOutcome(db: Database, signing: SigningContext, hook: Hook, id: number, report: Report) {
  checkDeliveryId(id)
  if (hook.url !== listening) throw wrong('url', `Only webhooks to ${listening} accept reports of outcomes`)
  const { status, status_code } = statusOf(report)
  const [waiting] = await readPending(db, hook, [id])
  if (!waiting) throw missing()
  const { signed } = signOffer(signing, hook, waiting, db.now)
  const answered = report.error === undefined
  const outcome: Outcome = {
    ...{ id, hook_id: hook.id, url: hook.url, status, status_code },
    delivered_at: db.now,
    duration: report.duration ?? 0,
    request_headers: signed,
    response_headers: answered ? (report.headers ?? {}) : null,
    response_body: answered ? cut(Buffer.from(report.body ?? '')) : null,
    // The client requests a redelivery when it is ready.
    ...{ retry_in: null, retry_after: null },
  }
  await db.transaction(async (transaction) => {
    const { rowCount } = await transaction.query(sql`select from pending_deliveries where id = ${id} for update`)
    if (!rowCount) throw missing()
    await recordIn(transaction, [outcome])
  })
}

function statusOf({ status_code, error }: Report) {
  if (error !== undefined) {
    const usual = error === 'timed out' ? 504 : 502
    if (status_code !== undefined && status_code !== usual)
      throw wrong('status_code', `status_code must be ${usual} with this error`)
    return { status: error, status_code: usual }
  }
  if (status_code === undefined) throw wrong('status_code', 'Send a status_code or an error')
  return { status: responseStatus(status_code), status_code }
}

const wrong = (field: string, message: string) => invalid({ resource: 'HookDelivery', code: 'custom', field, message })
