import { fillIn } from '#activity/outbox/addresses.ts'
import type { Belfry } from '#belfry.ts'
import { headersOf, type SignedHeaders } from '#parts/webhooks/signing.ts'
import { sql } from '#platform/database.ts'
import type { Delivery, DeliveryMatch } from '../protocol.ts'
import { untilSettled } from './settle.ts'

/** Rows that one look reads. */
const most = 1000

interface Row extends Omit<Delivery, 'headers' | 'payload' | 'delivered_at'> {
  request_headers: SignedHeaders
  body: string | null
  delivered_at: Date
  target_id: number
  target_type: string
}

/** The deliveries since the start or the last reset whose outcome is known. */
export class Deliveries {
  readonly #belfry: Belfry
  readonly #taken = new Set<number>()
  readonly #over = new AbortController()

  constructor(belfry: Belfry) {
    this.#belfry = belfry
  }

  /** Ends all waiting, because what is delivered after a reset belongs to another test. */
  close() {
    this.#over.abort()
  }

  async list(match: DeliveryMatch = {}): Promise<Delivery[]> {
    const rows = await this.#belfry.db.rows<Row>(sql`
      select d.id, d.guid, d.event, d.action, d.hook_id, d.url, d.redelivery, d.delivered_at, d.status, d.status_code, d.request_headers,
        p.body, h.target_id, h.target_type, o.login || '/' || r.name as repository
      from deliveries d
      join hooks h on h.id = d.hook_id
      left join payloads p on p.id = d.payload_id
      left join repositories r on r.id = d.repo_id
      left join accounts o on o.id = r.owner_id
      where (${match.event ?? null}::text is null or d.event = ${match.event ?? null})
        and (${match.action ?? null}::text is null or d.action = ${match.action ?? null})
        and (${match.url ?? null}::text is null or d.url = ${match.url ?? null})
        and (${match.repository ?? null}::text is null or lower(o.login || '/' || r.name) = lower(${match.repository ?? null}))
      order by d.id limit ${most}`)
    return rows.map((row) => this.#toJson(row))
  }

  /** The first that matches and was not returned before. Waits until there is one; undefined when `signal` is aborted. */
  async next(match: DeliveryMatch, given: AbortSignal): Promise<Delivery | undefined> {
    const signal = AbortSignal.any([given, this.#over.signal])
    for (;;) {
      const ended = Promise.withResolvers<void>()
      // Before the look, so that none is missed that is recorded meanwhile.
      const off = this.#belfry.db.onTransactionEnd(() => ended.resolve())
      signal.addEventListener('abort', () => ended.resolve(), { once: true })
      try {
        const found = (await this.list(match)).find(({ id }) => !this.#taken.has(id))
        if (found) this.#taken.add(found.id)
        if (found || signal.aborted) return found
        await ended.promise
      } finally {
        off()
      }
    }
  }

  /** All, once none is due or in flight. With the number of those that are still due when `signal` is aborted. */
  async settled(signal: AbortSignal): Promise<{ due: number; deliveries: Delivery[] }> {
    const due = await untilSettled(this.#belfry, AbortSignal.any([signal, this.#over.signal]))
    return { due, deliveries: await this.list() }
  }

  #toJson({ request_headers, body, target_id, target_type, ...row }: Row): Delivery {
    return {
      ...row,
      headers: headersOf(row, { id: row.hook_id, target_id, target_type }, request_headers),
      payload: body === null ? null : JSON.parse(fillIn(body, this.#belfry.addresses.web)),
      delivered_at: row.delivered_at.toISOString(),
    }
  }
}
