import { fillIn } from '#activity/outbox/addresses.ts'
import { listening } from '#activity/outbox/outbox.ts'
import type { Hook } from '#parts/webhooks/hooks.ts'
import { openSecrets } from '#parts/webhooks/secrets.ts'
import { encodeBody, sign } from '#parts/webhooks/signing.ts'
import { type Database, empty, sql } from '#platform/database.ts'
import type { Vault } from '#platform/vault.ts'
import { type DeliveryMessage, deliveryMessageJson, type Recorded, type Request } from './json.ts'
import { type Found, formatStreamCursor, openStreamCursor, parseStreamCursor, readAfter } from './stream-cursor.ts'

/** What signing a delivery needs. */
export interface SigningContext {
  vault: Vault
  /** The User-Agent header. */
  agent: string
  /** The public address of this server. */
  web: string
}

/**
 * A hook's deliveries after a cursor, each once. For a hook to `belfry:listen`, the pending ones, starting with the oldest. For any other
 * hook, those whose outcome is recorded from now on.
 */
export async function followDeliveries(db: Database, signing: SigningContext, hook: Hook, cursor: string | null) {
  const offered = hook.url === listening
  const from = parseStreamCursor(cursor) ?? (await openStreamCursor(db, hook, offered ? 'pending' : 'now'))
  // A delivery that a sender has claimed or postponed is no longer offered. An inactive hook gets what a user requests.
  const source = offered
    ? sql`pending_deliveries d where d.hook_id = ${hook.id} and d.ready_at > ${db.now} and d.sender is null and d.throttled_at is null
        ${hook.active ? empty : sql`and d.requested`}`
    : sql`deliveries d where d.hook_id = ${hook.id} and d.id >= ${from.lowest}`
  const { found, end } = await readAfter(db, hook, from, source)
  const messages = found.length ? await (offered ? readOffers : readRecorded)(db, signing, hook, found) : []
  const byId = new Map(messages.map((one) => [one.id, one]))
  const news = found.flatMap(({ id, position }) => {
    const data = byId.get(id)
    return data ? [{ id: formatStreamCursor({ ...from, position, id }), data }] : []
  })
  return { news, bookmark: formatStreamCursor(end) }
}

async function readOffers(db: Database, signing: SigningContext, hook: Hook, found: Found[]): Promise<DeliveryMessage[]> {
  const pending = await readPending(
    db,
    hook,
    found.map(({ id }) => id),
  )
  return pending.map((one) => deliveryMessageJson(hook, one, signOffer(signing, hook, one, db.now), null))
}

/** A pending delivery with its payload as it is stored. */
type PendingDelivery = Request & { body: string; created_at: Date }

export function readPending(db: Database, hook: { id: number }, ids: number[]): Promise<PendingDelivery[]> {
  return db.rows(sql`
    select u.id, u.guid, u.event, u.action, u.redelivery, u.created_at, p.body
    from pending_deliveries u join payloads p on p.id = u.payload_id
    where u.id = any(${ids}) and u.hook_id = ${hook.id} and p.body is not null`)
}

/** Signed with the time of storing, so that the recorded request is the one that was offered. */
export function signOffer({ vault, agent, web }: SigningContext, hook: Hook, offer: PendingDelivery, now: Date) {
  const { content_type } = hook
  const { guid, body, created_at } = offer
  const bytes = encodeBody(fillIn(body, web), content_type)
  const signed = sign(bytes, guid, { content_type, agent, ...openSecrets(vault, hook, now), sent_at: created_at })
  return { bytes, signed }
}

async function readRecorded(db: Database, { web }: SigningContext, hook: Hook, found: Found[]): Promise<DeliveryMessage[]> {
  const rows = await db.rows<Recorded>(sql`
    select d.id, d.guid, d.event, d.action, d.redelivery, d.url, d.request_headers, d.delivered_at, d.duration, d.status, d.status_code,
      d.response_headers, d.response_body, p.body
    from deliveries d left join payloads p on p.id = d.payload_id
    where d.id = any(${found.map(({ id }) => id)}) and d.hook_id = ${hook.id}`)
  return rows.map((row) => {
    const form = row.request_headers['content-type'] === 'application/x-www-form-urlencoded'
    const bytes = row.body === null ? null : encodeBody(fillIn(row.body, web), form ? 'form' : 'json')
    return deliveryMessageJson(hook, row, { bytes, signed: row.request_headers }, row)
  })
}
