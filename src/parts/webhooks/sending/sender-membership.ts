import { type Database, sql } from '#platform/database.ts'
import { type DedicatedConnection, openDedicatedConnection } from '#platform/dedicated-connection.ts'
import type { Logger } from '#platform/log.ts'

/** Every so many checks, also deliveries with the number of a sender that had already left are released. */
const thoroughEvery = 30

/** The deliveries that a sender owns. */
interface OwnedDeliveries {
  ids(): number[]
  /** Called after a lost connection was replaced: only these ids are still ours. */
  keep(ids: number[]): void
  /** Called when the number is lost: other senders may claim the deliveries that carry it. */
  lose(): void
}

/** Keeps a sender registered, renews the registration after a lost connection, and releases deliveries of dead senders. */
export class SenderMembership {
  readonly #db: Database
  readonly #log: Logger
  readonly #deliveries: OwnedDeliveries
  #registration: SenderRegistration | undefined
  /** The number of a registration whose connection was lost, until it is renewed. */
  #former: number | undefined
  /** How many checks in a row found a sender without its lock. */
  readonly #missing = new Map<number, number>()
  #checks = 0
  #left = false

  constructor(db: Database, log: Logger, deliveries: OwnedDeliveries) {
    this.#db = db
    this.#log = log
    this.#deliveries = deliveries
  }

  get number(): number | undefined {
    return this.#registration?.number
  }

  async check() {
    await this.#register()
    const released = await releaseDeadSenders(this.#db, this.#missing, this.#checks++ % thoroughEvery === 0)
    if (released) this.#log.warn({ deliveries: released }, 'a sender of webhooks is dead: its deliveries are released')
  }

  async #register() {
    if (this.#registration || this.#left) return
    const registration = await registerSender(this.#db)
    try {
      if (this.#former !== undefined) {
        this.#deliveries.keep(await renewRegistration(this.#db, this.#former, registration.number, this.#deliveries.ids()))
      }
    } catch (error) {
      await registration.leave()
      throw error
    }
    this.#former = undefined
    this.#registration = registration
    void registration.lost.then(() => {
      if (this.#registration !== registration || this.#left) return
      this.#registration = undefined
      this.#former = registration.number
      this.#deliveries.lose()
    })
  }

  async leave() {
    this.#left = true
    await this.#registration?.leave()
  }
}

/** The first half of the advisory locks of senders. */
const lock = 0x73656e64

/**
 * A sender's entry in the registry of all nodes. It holds an advisory lock on its number. When the process is killed, the database releases
 * the lock with the connection, and other senders release its deliveries.
 */
interface SenderRegistration {
  number: number
  /** Resolves when the connection is lost, and with it the lock. */
  lost: Promise<void>
  leave(): Promise<void>
}

async function registerSender(db: Database): Promise<SenderRegistration> {
  const held = await openDedicatedConnection(db)
  try {
    const { rows } = await held.query<{ number: number }>(`select nextval(pg_get_serial_sequence('senders', 'number')) as number`)
    const number = Number(rows[0]?.number)
    // The lock comes before the row, because a row without a lock means a dead sender.
    await held.query('select pg_advisory_lock($1, $2)', [lock, number])
    await held.query('insert into senders (number) overriding system value values ($1)', [number])
    return { number, lost: held.lost, leave: () => leave(held, number) }
  } catch (error) {
    held.end()
    throw error
  }
}

async function leave(held: DedicatedConnection, number: number) {
  // If deliveries are left, the row stays: other senders find it without a lock and release them.
  const done = 'delete from senders where number = $1 and not exists (select from pending_deliveries where sender = $1)'
  await held.query(done, [number]).catch(() => {})
  held.end()
}

/**
 * Lets a sender that lost its connection continue under a new number. Of the deliveries it owned, it keeps those that no other sender has
 * claimed, and gets their ids. The rest are released.
 */
function renewRegistration(db: Database, former: number, number: number, owned: number[]): Promise<number[]> {
  return db.transaction(async (transaction) => {
    const kept = await transaction.rows<{ id: number }>(sql`
      update pending_deliveries set sender = ${number} where id = any(${owned}) and (sender = ${former} or sender is null) returning id`)
    await transaction.query(sql`update pending_deliveries set sender = null where sender = ${former}`)
    await transaction.query(sql`delete from senders where number = ${former}`)
    return kept.map(({ id }) => id)
  })
}

/** A sender counts as dead after so many checks in a row without its lock. One that only lost its connection has this long to reconnect. */
const checksUntilDead = 3

/**
 * Releases the deliveries of dead senders and returns their number. A transaction may commit deliveries for a sender that has left since:
 * `thorough` finds these too, but reads all pending deliveries.
 */
async function releaseDeadSenders(db: Database, missing: Map<number, number>, thorough: boolean): Promise<number> {
  const unlocked = await db.rows<{ number: number }>(sql`
    select number from senders s where not exists (
      select from pg_locks l where l.locktype = 'advisory' and l.classid = ${lock}::bigint::oid and l.objid = s.number::oid
        and l.database = (select oid from pg_database where datname = current_database()))`)
  const checks = unlocked.map(({ number }) => [number, (missing.get(number) ?? 0) + 1] as const)
  missing.clear()
  for (const [number, times] of checks) missing.set(number, times)
  const dead = checks.flatMap(([number, times]) => (times >= checksUntilDead ? number : []))
  if (!dead.length && !thorough) return 0
  return db.transaction(async (transaction) => {
    if (dead.length) await transaction.query(sql`delete from senders where number = any(${dead})`)
    const { rowCount } = await transaction.query(
      sql`update pending_deliveries u set sender = null where sender is not null and not exists (select from senders s where s.number = u.sender)`,
    )
    return rowCount ?? 0
  })
}
