import { type Database, sql } from '#platform/database.ts'
import { type DedicatedConnection, openDedicatedConnection } from '#platform/dedicated-connection.ts'

/** The first half of the locks that senders hold. */
const lock = 0x73656e64

/**
 * A sender among those of all nodes. It holds a lock by its number for as long as its connection lives: the database lets go of it when the
 * process is killed, and the others then give back what it had in hand.
 */
export interface SenderRegistration {
  number: number
  /** Resolves when the connection is lost, and with it the lock. */
  lost: Promise<void>
  leave(): Promise<void>
}

export async function registerSender(db: Database): Promise<SenderRegistration> {
  const held = await openDedicatedConnection(db)
  try {
    const { rows } = await held.query<{ number: number }>(`select nextval(pg_get_serial_sequence('senders', 'number')) as number`)
    const number = Number(rows[0]?.number)
    // The lock comes before the row: who has a row and no lock is dead.
    await held.query('select pg_advisory_lock($1, $2)', [lock, number])
    await held.query('insert into senders (number) overriding system value values ($1)', [number])
    return membership(held, number)
  } catch (error) {
    held.end()
    throw error
  }
}

function membership(held: DedicatedConnection, number: number): SenderRegistration {
  return {
    number,
    lost: held.lost,
    async leave() {
      // What could not be given back is so by the others, who find the row without a lock.
      const done = 'delete from senders where number = $1 and not exists (select from pending_deliveries where sender = $1)'
      await held.query(done, [number]).catch(() => {})
      held.end()
    },
  }
}

/**
 * Lets a sender that lost its connection continue under a new number. Deliveries that it is sending, or has sent and not recorded, become its own again
 * unless another sender has taken them: their ids are returned. Any sender may take the rest.
 */
export function renewRegistration(db: Database, former: number, number: number, in_hand: number[]): Promise<number[]> {
  return db.transaction(async (transaction) => {
    const kept = await transaction.rows<{ id: number }>(sql`
      update pending_deliveries set sender = ${number} where id = any(${in_hand}) and (sender = ${former} or sender is null) returning id`)
    await transaction.query(sql`update pending_deliveries set sender = null where sender = ${former}`)
    await transaction.query(sql`delete from senders where number = ${former}`)
    return kept.map(({ id }) => id)
  })
}

/**
 * How many times in a row a sender is found without its lock before it counts as dead. One that only lost its connection has this much time to come
 * back before others send what it has in hand.
 */
const checksUntilDead = 3

/**
 * Gives back what senders had in hand that live no more, and says how much that was. An act may have been under way when its sender left,
 * and be committed with that number thereafter: `thorough` finds those too, for which all that waits is read.
 */
export async function releaseDeadSenders(db: Database, seen: Map<number, number>, thorough: boolean): Promise<number> {
  const missing = await db.rows<{ number: number }>(sql`
    select number from senders s where not exists (
      select from pg_locks l where l.locktype = 'advisory' and l.classid = ${lock}::bigint::oid and l.objid = s.number::oid
        and l.database = (select oid from pg_database where datname = current_database()))`)
  const looks = missing.map(({ number }) => [number, (seen.get(number) ?? 0) + 1] as const)
  seen.clear()
  for (const [number, times] of looks) seen.set(number, times)
  const dead = looks.flatMap(([number, times]) => (times >= checksUntilDead ? number : []))
  if (!dead.length && !thorough) return 0
  return db.transaction(async (transaction) => {
    if (dead.length) await transaction.query(sql`delete from senders where number = any(${dead})`)
    const { rowCount } = await transaction.query(
      sql`update pending_deliveries u set sender = null where sender is not null and not exists (select from senders s where s.number = u.sender)`,
    )
    return rowCount ?? 0
  })
}
