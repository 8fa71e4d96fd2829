import { deliveriesTopic, listening, patience, storeDeliveries } from '#activity/outbox/outbox.ts'
import { subscribesTo } from '#activity/outbox/subscribed-hooks.ts'
import type { Storage } from '#git/storage.ts'
import { readDelivery } from '#hosting/pushes/pushed-commits.ts'
import type { Hook } from '#parts/webhooks/hooks.ts'
import { composeReplay } from '#parts/webhooks/replays/compose-replay.ts'
import type { SignedHeaders } from '#parts/webhooks/signing.ts'
import { clearThrottle } from '#parts/webhooks/throttling.ts'
import { type Database, empty, type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import { invalid, missing, Refusal } from '#platform/errors.ts'
import { type Cursor, writeCursor } from './cursors.ts'

/** A delivery whose outcome is recorded. */
export interface Delivery {
  id: number
  hook_id: number
  payload_id: number
  repo_id: number | null
  /** For the hook of an app. */
  installation_id: number | null
  guid: string
  event: string
  action: string | null
  redelivery: boolean
  delivered_at: Date
  /** In seconds. */
  duration: number
  status: string
  status_code: number
  throttled_at: Date | null
}

export interface FullDelivery extends Delivery {
  url: string
  request_headers: SignedHeaders
  response_headers: Record<string, string | string[]> | null
  response_body: string | null
  /** As it was stored, see addresses.ts; null when it was too large to be sent. */
  body: string | null
}

export const deliveryStatuses = ['success', 'failure'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

export function readStatus(given: string): DeliveryStatus | null {
  if (given === '') return null
  const status = deliveryStatuses.find((name) => name === given)
  if (status) return status
  const message = `status must be one of: ${deliveryStatuses.join(', ')}`
  throw invalid({ resource: 'HookDelivery', code: 'invalid', field: 'status', message })
}

/** The condition for failures matches their partial index. */
const outcomes: Record<DeliveryStatus, Sql> = {
  success: sql`and d.status_code between 200 and 399`,
  failure: sql`and d.status_code >= 400 and d.status_code <= 599`,
}

const columns = sql`d.id, d.hook_id, d.payload_id, d.repo_id, d.guid, d.event, d.action, d.redelivery, d.delivered_at, d.duration,
  d.status, d.status_code, d.throttled_at`

/** Only deliveries of apps are for an installation. */
const installationOf = ({ target_type }: Pick<Hook, 'target_type'>) =>
  target_type === 'integration'
    ? sql`(select p.installation_id from payloads p where p.id = d.payload_id) as installation_id`
    : sql`null::bigint as installation_id`

interface Wanted {
  status: DeliveryStatus | null
  cursor: Cursor | null
  limit: number
}

/** Newest first. The planner reads one day's partition after the other, until the page is full. */
export async function listDeliveries(db: Database, hook: Pick<Hook, 'id' | 'target_type'>, { status, cursor, limit }: Wanted) {
  const back = cursor?.towards === 'newer'
  const found = await db.genericPlanRows<Delivery>(sql`
    select ${columns}, ${installationOf(hook)} from deliveries d
    where d.hook_id = ${hook.id} ${status ? outcomes[status] : empty}
      ${back ? sql`and d.id > ${cursor.id} order by d.id` : sql`and d.id < ${cursor?.id ?? beyond} order by d.id desc`}
    limit ${limit + 1}`)
  const more = found.length > limit
  const rows = back ? found.slice(0, limit).reverse() : found.slice(0, limit)
  const [newest, oldest] = [rows[0], rows.at(-1)]
  return {
    rows,
    // A cursor comes from the neighbouring page, so that page exists.
    prev: newest && (back ? more : cursor !== null) ? writeCursor({ id: newest.id, towards: 'newer' }) : undefined,
    next: oldest && (back || more) ? writeCursor({ id: oldest.id, towards: 'older' }) : undefined,
  }
}
const beyond = Number.MAX_SAFE_INTEGER

/** The path has something else than an integer, see route-params.ts. */
export function checkDeliveryId(id: number) {
  if (Number.isNaN(id)) throw new Refusal('malformed', 'delivery_id must be an integer.')
}

export async function loadDelivery(db: Queryable, hook: Pick<Hook, 'id' | 'target_type'>, id: number): Promise<FullDelivery> {
  checkDeliveryId(id)
  const found = await db.first<FullDelivery>(sql`
    select ${columns}, ${installationOf(hook)}, d.url, d.request_headers, d.response_headers, d.response_body, p.body
    from deliveries d left join payloads p on p.id = d.payload_id where d.id = ${id} and d.hook_id = ${hook.id}`)
  if (!found) throw missing()
  return found
}

/** Sends the payload again with the same guid to the hook's current url. The hook may be inactive, because a person asks for it. */
export async function redeliver(db: Transaction, hook: Hook, { payload_id, guid }: Pick<Delivery, 'payload_id' | 'guid'>) {
  if (await enqueueRedelivery(db, hook, { payload_id, guid, redelivery: true })) return
  throw new Refusal('invalid', 'The payload of this delivery is no longer stored.')
}

interface RedeliveryOptions {
  payload_id: number
  /** Null for a new one. */
  guid: string | null
  redelivery: boolean
}

/**
 * Stores another delivery of a payload; false when the payload is deleted. The payload of an earlier day is copied, because payloads are
 * deleted by day and this one must live as long as the new delivery.
 */
async function enqueueRedelivery(
  db: Transaction,
  hook: Hook,
  { payload_id, guid, redelivery }: RedeliveryOptions,
): Promise<boolean> {
  await db.query(sql`select open_delivery_day(delivery_day(${db.now}))`)
  const { rowCount } = await db.query(sql`
    with source as materialized (
      select * from payloads where id = ${payload_id}
    ), copied as (
      insert into payloads (id, repo_id, event, action, body, installation_id, created_at)
      select delivery_id(${db.now}), repo_id, event, action, body, installation_id, created_at from source where id >> 36 <> delivery_day(${db.now})
      returning id
    )
    insert into pending_deliveries (id, hook_id, payload_id, repo_id, guid, event, action, redelivery, created_at, ready_at, requested)
    select delivery_id(${db.now}), ${hook.id}, coalesce(copied.id, source.id), repo_id, coalesce(${guid}, gen_random_uuid()), event, action,
      ${redelivery}, ${db.now}, ${db.now}::timestamptz + ${hook.url === listening ? patience : 0} * interval '1 second', ${!hook.active}
    from source left join copied on true`)
  await clearThrottle(db, hook)
  db.touch(deliveriesTopic)
  return rowCount === 1
}

/**
 * Sends the stored payload of the last push, or composes one from the repository when none is stored. Does nothing for a hook that does not
 * subscribe to pushes. The hook may be inactive, because a user asks for it.
 */
export async function resendLatestPush(db: Database, storage: Storage, repo: { id: number }, hook: Hook): Promise<void> {
  if (!subscribesTo(hook, 'push')) return
  const push = await db.first<LatestPush>(sql`select * from latest_pushes where repo_id = ${repo.id}`)
  if (!push) return
  const payload_id = await findPayload(db, repo, push)
  const sent =
    payload_id !== undefined &&
    (await db.transaction((transaction) => enqueueRedelivery(transaction, hook, { payload_id, guid: null, redelivery: false })))
  if (sent) return
  const delivery = await readDelivery(db, storage, repo.id, push, { most: push.size })
  await db.transaction(async (transaction) => {
    const events = [{ event: 'push' as const, action: null, facts: { delivery } }]
    const past = { repo_id: repo.id, actor_id: push.pusher_id, at: push.pushed_at, events }
    const [composed = []] = await composeReplay(transaction, [past])
    const receiver = await clearThrottle(transaction, hook)
    await storeDeliveries(
      transaction,
      repo.id,
      composed.map((payload) => ({ ...payload, hooks: [receiver] })),
      { requested: !hook.active },
    )
  })
}

interface LatestPush {
  pusher_id: number
  ref: string
  before: string
  after: string
  size: number
  pushed_at: Date
}

/** Finds the stored payload of a push by its time and refs. A text in the payload cannot match, because JSON escapes its quotes. */
async function findPayload(db: Queryable, repo: { id: number }, { ref, before, after, pushed_at }: LatestPush) {
  const row = await db.first<{ id: number }>(sql`
    select id from payloads
    where repo_id = ${repo.id} and event = 'push' and created_at = ${pushed_at}
      and id >= delivery_day(${pushed_at}) << 36 and id < (delivery_day(${pushed_at}) + 1) << 36
      and strpos(body, ${`"ref":${JSON.stringify(ref)}`}) > 0 and strpos(body, ${`"before":"${before}"`}) > 0
      and strpos(body, ${`"after":"${after}"`}) > 0
    order by id limit 1`)
  return row?.id
}
