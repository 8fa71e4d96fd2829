import { setTimeout as sleep } from 'node:timers/promises'
import { fillIn } from '#hosting/announcements/addresses.ts'
import { largest } from '#hosting/announcements/announcements.ts'
import { encodeBody } from '#parts/webhooks/signing.ts'
import { type Database, sql } from '#platform/database.ts'
import { DatabaseUnavailable } from '#platform/unavailable.ts'

/** What is larger is read when its turn comes, and only so many are in memory at a time. */
const small = 256 * 1024
const largeAtOnce = 4
/** How much of what was read last is kept, for the hooks that hear of it next. In bytes. */
const kept = 16 * 1024 * 1024

/** In milliseconds. */
const pauseWhileAway = 1000

/** A payload as it is sent, made once for each content type, whoever receives it. */
export interface Payload {
  bytes(content_type: 'json' | 'form'): Buffer
}

/** The payloads of what is in hand. */
export class PayloadCache {
  readonly #db: Database
  readonly #web: () => string
  readonly #letters = new Map<number, Payload & { size: number }>()
  readonly #queue: (() => void)[] = []
  #size = 0
  #large = 0

  constructor(db: Database, web: () => string) {
    this.#db = db
    this.#web = web
  }

  /** Reads those that are not here yet. */
  async fetch(ids: number[]) {
    const wanted = [...new Set(ids)].filter((id) => !this.#letters.has(id))
    if (!wanted.length) return
    for (const { id, body } of await this.#read(wanted, small)) this.keep(id, body)
  }

  /**
   * Gives `work` a payload, or undefined when it is too large to be sent, or gone. If it must be read and the database is away, reading is tried
   * again for as long as it is `wanted`.
   */
  async use<T>(id: number, wanted: () => boolean, work: (letter: Payload | undefined) => Promise<T>): Promise<T> {
    const letter = this.#letters.get(id)
    if (letter) return work(letter)
    if (this.#large >= largeAtOnce) await new Promise<void>((resolve) => this.#queue.push(resolve))
    this.#large++
    try {
      const [row] = await this.#readPatiently(id, wanted)
      return await work(row && payloadOf(row.body))
    } finally {
      this.#large--
      this.#queue.shift()?.()
    }
  }

  /**
   * Payloads as they are sent. One that was stored before any address was known gets ours, once for all nodes: when a delivery is sent
   * again after a crash, by a server that listens elsewhere, it has the same bytes.
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

  async #readPatiently(id: number, wanted: () => boolean): Promise<{ id: number; body: string }[]> {
    for (;;) {
      try {
        return await this.#read([id], largest)
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable)) throw error
        await sleep(pauseWhileAway)
        if (!wanted()) throw error
      }
    }
  }

  /** Has it here for those who are sent it next. */
  keep(id: number, body: string) {
    if (body.length > small) return
    const letter = { ...payloadOf(body), size: body.length }
    this.#letters.set(id, letter)
    this.#size += letter.size
    for (const [oldest, { size }] of this.#letters) {
      if (this.#size <= kept) return
      this.#letters.delete(oldest)
      this.#size -= size
    }
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
