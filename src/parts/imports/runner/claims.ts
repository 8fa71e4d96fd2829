import type { Database } from '#platform/database.ts'
import { openDedicatedConnection } from '#platform/dedicated-connection.ts'

/** The first half of the locks that imports are worked on under. */
const lock = 0x696d7074

/**
 * The imports that this node works on. It holds a lock on each for as long as its connection lives: the database lets go of them when the
 * process is killed, and others go on at once.
 */
export interface Claims {
  /** Claims as many of these as are free, up to `most`, and gives them. */
  take(ids: number[], most: number): Promise<number[]>
  release(import_id: number): Promise<void>
  /** Resolves when the connection is lost, and with it all claims. */
  lost: Promise<void>
  close(): void
}

export async function openClaims(db: Database): Promise<Claims> {
  const imported = await openDedicatedConnection(db)
  return {
    async take(ids, most) {
      // Nothing is sorted, so that no lock is taken that is not given.
      const text = `select id from unnest($1::bigint[]) id where pg_try_advisory_lock(${lock}, (id % 2147483647)::int) limit $2`
      const { rows } = await imported.query<{ id: number }>(text, [ids, most])
      return rows.map(({ id }) => id)
    },
    async release(import_id) {
      await imported.query(`select pg_advisory_unlock(${lock}, ($1::bigint % 2147483647)::int)`, [import_id])
    },
    lost: imported.lost,
    close: imported.end,
  }
}
