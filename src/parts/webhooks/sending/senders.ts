import type pg from 'pg'
import { type Database, sql } from '#platform/database.ts'

/** The first half of the locks that senders hold. */
const lock = 0x73656e64

/**
 * A sender among those of all nodes. It holds a lock by its number for as long as its connection lives: the database lets go of it when the
 * process is killed, and the others then give back what it had in hand.
 */
export interface Membership {
  number: number
  /** Resolves when the connection is lost, and with it the lock. */
  lost: Promise<void>
  leave(): Promise<void>
}

export async function joinSenders(db: Database): Promise<Membership> {
  const client = await db.pool.connect()
  try {
    const { rows } = await client.query<{ number: number }>(
      `select nextval(pg_get_serial_sequence('senders', 'number')) as number`,
    )
    const number = Number(rows[0]?.number)
    // The lock comes before the row: who has a row and no lock is dead.
    await client.query('select pg_advisory_lock($1, $2)', [lock, number])
    await client.query('insert into senders (number) overriding system value values ($1)', [number])
    return membership(client, number)
  } catch (error) {
    client.release(true)
    throw error
  }
}

function membership(client: pg.PoolClient, number: number): Membership {
  const lost = Promise.withResolvers<void>()
  client.once('end', lost.resolve)
  return {
    number,
    lost: lost.promise,
    async leave() {
      // What could not be given back is so by the others, who find the row without a lock.
      const done = 'delete from senders where number = $1 and not exists (select from unsent where sender = $1)'
      await client.query(done, [number]).catch(() => {})
      client.release(true)
    },
  }
}

/**
 * Gives back what senders had in hand that live no more, and says how much that was. An act may have been under way when its sender left,
 * and be committed with that number thereafter: `thorough` finds those too, for which all that waits is read.
 */
export function relieveDead(db: Database, thorough: boolean): Promise<number> {
  return db.transaction(async (transaction) => {
    const dead = await transaction.rows<{ number: number }>(sql`
      delete from senders s where not exists (
        select from pg_locks l where l.locktype = 'advisory' and l.classid = ${lock}::bigint::oid and l.objid = s.number::oid
          and l.database = (select oid from pg_database where datname = current_database()))
      returning number`)
    if (!dead.length && !thorough) return 0
    const { rowCount } = await transaction.query(
      sql`update unsent u set sender = null where sender is not null and not exists (select from senders s where s.number = u.sender)`,
    )
    return rowCount ?? 0
  })
}
