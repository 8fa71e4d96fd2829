import { deliveriesTopic, listening } from '#activity/outbox/outbox.ts'
import type { DeliveryOutcome } from '#belfry.ts'
import { failureThreshold, throttleSeconds } from '#parts/webhooks/throttling.ts'
import { asyncCommit, codeOf, type Database, json, type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import type { SignedHeaders } from '../signing.ts'
import { notSent } from './failures.ts'

/** The outcome of one attempt. */
export interface Outcome {
  /** The id of the pending delivery. */
  id: number
  hook_id: number
  delivered_at: Date
  /** In seconds. */
  duration: number
  status: string
  status_code: number
  url: string
  request_headers: SignedHeaders
  response_headers: Record<string, string> | null
  response_body: string | null
  /** Seconds until the automatic retry; null for none. */
  retry_in: number | null
  /** The pause that the receiver asks for, in seconds. */
  retry_after: number | null
}

/** The outcome of a delivery that was not sent, because its hook is inactive. */
export const notSentOutcome = ({ id, hook_id, url }: Pick<Outcome, 'id' | 'hook_id' | 'url'>, now: Date): Outcome => ({
  ...{ id, hook_id, url, ...notSent },
  ...{ delivered_at: now, duration: 0, request_headers: {} },
  ...{ response_headers: null, response_body: null, retry_in: null, retry_after: null },
})

export interface ThrottledHook {
  hook_id: number
  until: Date
  failures: number
  /** It was not throttled before. */
  begins: boolean
}

export function kindOf({ response_headers, status_code }: Outcome): DeliveryOutcome {
  if (response_headers) return status_code < 400 ? 'delivered' : 'refused'
  return status_code === 504 ? 'timed out' : 'failed'
}

/** The topic of transactions that record outcomes, see Transaction.touch. */
export const outcomesTopic = 'outcomes'

/**
 * Records outcomes and deletes the pending rows in one statement. A sender that is killed before leaves the rows, and a second sender of
 * the same delivery finds no row and records nothing.
 */
export async function recordOutcomes(
  db: Database,
  outcomes: Outcome[],
  known: KnownHealth = new Map(),
): Promise<ThrottledHook[]> {
  const health = healthOf(outcomes).filter((one) => isNew(one, known))
  const updates = await db.genericPlanRows<HookUpdate>(recordStatement(db, outcomes, health)).catch(async (error) => {
    // The partition is missing when a retry after midnight is the first delivery of its day.
    if (codeOf(error) !== noPartition) throw error
    await openDays(db, outcomes)
    return db.genericPlanRows<HookUpdate>(recordStatement(db, outcomes, health))
  })
  if (known.size > mostKnown) known.clear()
  for (const one of health) known.set(one.hook_id, one)
  db.notifyTransactionEnd('committed here', new Map([[outcomesTopic, []]]))
  if (await resumeRecovered(db, updates)) db.notifyTransactionEnd('committed here', new Map([[deliveriesTopic, []]]))
  return throttledHooks(updates)
}
const noPartition = '23514'

/** The same for a transaction whose success is reported to a caller, so the commit waits for the disk. */
export async function recordIn(db: Transaction, outcomes: Outcome[]): Promise<ThrottledHook[]> {
  await openDays(db, outcomes)
  const updates = await db.rows<HookUpdate>(recordStatement(db, outcomes, healthOf(outcomes), synced))
  db.touch(outcomesTopic)
  if (await resumeRecovered(db, updates)) db.touch(deliveriesTopic)
  return throttledHooks(updates)
}

async function openDays(db: Queryable, outcomes: Outcome[]) {
  const days = [...new Set(outcomes.map(({ id }) => Math.floor(id / 2 ** 36)))]
  await db.query(sql`select open_delivery_day(day) from unnest(${days}::bigint[]) day`)
}

/** The state of a hook after its outcomes were recorded. */
interface HookUpdate {
  hook_id: number
  until: Date | null
  failures: number
  begins: boolean
  released: boolean
}

/** A source of one row, used instead of `asyncCommit`. */
const synced = sql`(select) synced`

function recordStatement({ now }: Queryable, outcomes: Outcome[], health: Health[], commit = asyncCommit): Sql {
  return sql`
    with outcome as materialized (
      select o.* from ${commit}, json_to_recordset(${json(outcomes)}::json) as o (id bigint, delivered_at timestamptz,
        duration double precision, status text, status_code integer, url text, request_headers json, response_headers json,
        response_body text, retry_in double precision)
    ), done as (
      delete from pending_deliveries u using outcome o where u.id = o.id returning u.*, o.delivered_at, o.duration, o.status, o.status_code, o.url,
        o.request_headers, o.response_headers, o.response_body, o.retry_in
    ), retried as (
      insert into pending_deliveries (id, hook_id, payload_id, repo_id, guid, event, action, redelivery, attempts, created_at, ready_at, requested, traceparent)
      select delivery_id(${now}), hook_id, payload_id, repo_id, guid, event, action, true, attempts + 1, ${now},
        ${now}::timestamptz + retry_in * interval '1 second', requested, traceparent
      from done where retry_in is not null
    ), recorded as (
      insert into deliveries (id, hook_id, payload_id, repo_id, guid, event, action, redelivery, throttled_at, delivered_at, duration, status,
        status_code, url, request_headers, response_headers, response_body)
      select id, hook_id, payload_id, repo_id, guid, event, action, redelivery, throttled_at, delivered_at, duration, status,
        status_code, url, request_headers, response_headers, response_body
      from done
    ), health as materialized (
      select * from json_to_recordset(${json(health)}::json) as o (hook_id bigint, code integer, status text, message text,
        delivered_at timestamptz, failures integer, recovered boolean, retry_after double precision)
    ), counted as materialized (
      select o.*, h.failures >= ${failureThreshold} as was_throttled, case when o.recovered then o.failures
        -- Several failures at the same time count as one step of the pause.
        else least(h.failures + o.failures, greatest(h.failures + 1, ${failureThreshold})) end as in_row
      from health o join hooks h on h.id = o.hook_id
    )
    update hooks h set last_code = code, last_status = status, last_message = message, last_delivered_at = delivered_at,
      failures = in_row, throttled_until = case when in_row >= ${failureThreshold}
        then ${now}::timestamptz + greatest(${throttleSeconds(sql`in_row`)}, least(retry_after, 3600)) * interval '1 second' end
    from counted c where h.id = c.hook_id
    returning h.id as hook_id, h.throttled_until as until, h.failures, not c.was_throttled as begins, c.was_throttled and h.throttled_until is null as released`
}

/** Makes the postponed deliveries of recovered receivers due now. */
async function resumeRecovered(db: Queryable, updates: HookUpdate[]): Promise<boolean> {
  const released = updates.flatMap((hook) => (hook.released ? hook.hook_id : []))
  if (released.length === 0) return false
  await db.query(sql`
    update pending_deliveries set ready_at = ${db.now} where hook_id = any(${released}) and throttled_at is not null and ready_at > ${db.now}`)
  return true
}

const throttledHooks = (updates: HookUpdate[]): ThrottledHook[] =>
  updates.flatMap(({ until, ...hook }) => (until ? { ...hook, until } : []))

/** What outcomes say about a hook: the last one, and the number of failures since the last success. */
export interface Health {
  hook_id: number
  code: number
  status: 'active' | 'misconfigured' | 'timeout'
  message: string
  delivered_at: Date
  failures: number
  recovered: boolean
  retry_after: number
}

function healthOf(outcomes: Outcome[]): Health[] {
  const hooks = new Map<number, Health>()
  for (const { hook_id, url, status_code, status, delivered_at, retry_after } of outcomes) {
    if (status === notSent.status) continue
    const before = hooks.get(hook_id)
    // Nothing is sent to `belfry:listen`, so there is no receiver to protect.
    const up = url === listening || isReceiverUp(status_code)
    hooks.set(hook_id, {
      ...{ hook_id, delivered_at },
      ...{ code: status_code, message: status },
      status: status_code < 300 ? 'active' : status_code === 504 ? 'timeout' : 'misconfigured',
      failures: up ? 0 : (before?.failures ?? 0) + 1,
      recovered: up || (before?.recovered ?? false),
      retry_after: Math.max(retry_after ?? 0, before?.retry_after ?? 0),
    })
  }
  return [...hooks.values()]
}

/** A 4xx response (except 429) means that the receiver is up. */
function isReceiverUp(status_code: number) {
  return status_code < 500 && status_code !== 429
}

/** What was last recorded for each hook. */
export type KnownHealth = Map<number, Health>

const mostKnown = 10_000

/** How long a healthy hook is not written again, in milliseconds, so that its deliveries do not cost a write each. */
const fresh = 10_000

function isNew({ hook_id, code, failures, delivered_at }: Health, known: KnownHealth) {
  const before = known.get(hook_id)
  const same = before?.code === code && before.failures === 0 && failures === 0
  return !same || delivered_at.getTime() - before.delivered_at.getTime() > fresh
}
