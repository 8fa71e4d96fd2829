import { fillIn } from '#activity/outbox/addresses.ts'
import { largest } from '#activity/outbox/outbox.ts'
import { encodeBody } from '#parts/webhooks/signing.ts'
import { ByteCache } from '#platform/byte-cache.ts'
import { type Database, sql } from '#platform/database.ts'
import { patiently } from './outages.ts'

/** Larger payloads are not cached: each is read when it is sent, and only `largeAtOnce` are in memory at a time. */
const small = 256 * 1024
const largeAtOnce = 4
/** The size of the cache in bytes. */
const cacheSize = 16 * 1024 * 1024

/** A payload as it is sent, encoded once for each content type and shared by all receivers. */
export interface Payload {
  bytes(content_type: 'json' | 'form'): Buffer
}

export class PayloadCache {
  readonly #db: Database
  readonly #web: () => string
  readonly #payloads = new ByteCache<Payload>(cacheSize)
  readonly #queue: (() => void)[] = []
  #large = 0

  constructor(db: Database, web: () => string) {
    this.#db = db
    this.#web = web
  }

  /** Reads payloads that are not cached yet. */
  async load(ids: number[]) {
    const wanted = [...new Set(ids)].filter((id) => !this.#payloads.get(String(id)))
    if (!wanted.length) return
    for (const { id, body } of await this.#read(wanted, small)) this.add(id, body)
  }

  /**
   * Calls `work` with a payload, or with undefined when the payload is too large to be sent or deleted. During an outage of the database,
   * reading is repeated as long as the payload is `wanted`.
   */
  async use<T>(id: number, wanted: () => boolean, work: (payload: Payload | undefined) => Promise<T>): Promise<T> {
    const payload = this.#payloads.get(String(id))
    if (payload) return work(payload)
    if (this.#large >= largeAtOnce) await new Promise<void>((resolve) => this.#queue.push(resolve))
    this.#large++
    try {
      const [row] = await patiently(() => this.#read([id], largest), wanted)
      return await work(row && payloadOf(row.body))
    } finally {
      this.#large--
      this.#queue.shift()?.()
    }
  }

  /**
   * A payload that was stored before the server's address was known gets the address now, in the database. A server with another address
   * that repeats the delivery after a crash then sends the same bytes.
   */
  async #read(ids: number[], longest: number): Promise<{ id: number; body: string }[]> {
    const read = () =>
      this.#db.rows<{ id: number; body: string }>(
        sql`select id, body from payloads where id = any(${ids}) and octet_length(body) <= ${longest}`,
      )
    const rows = await read()
    const open = rows.flatMap(({ id, body }) => {
      const filled = fillIn(body, this.#web())
      return filled === body ? [] : { id, body, filled }
    })
    if (!open.length) return rows
    await this.#db.query(sql`
      update payloads p set body = o.filled from json_to_recordset(${JSON.stringify(open)}::json) as o (id bigint, body text, filled text)
      where p.id = o.id and p.body = o.body`)
    return read()
  }

  add(id: number, body: string) {
    if (body.length <= small) this.#payloads.set(String(id), payloadOf(body), body.length)
  }
}

function payloadOf(text: string): Payload {
  const made: Partial<Record<'json' | 'form', Buffer>> = {}
  return {
    bytes(content_type) {
      made[content_type] ??= encodeBody(text, content_type)
      return made[content_type]
    },
  }
}
