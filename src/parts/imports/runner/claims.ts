import type { Database } from '#platform/database.ts'
import { openDedicatedConnection } from '#platform/dedicated-connection.ts'

/** The first key of the advisory locks of imports. */
const lock = 0x696d7074

/**
 * The imports that this node runs. It holds an advisory lock on each. The database releases the locks when the connection ends, so that
 * other nodes resume a killed node's imports at once.
 */
export interface Claims {
  /** Claims up to `most` of the free ones and returns them. */
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
      // Without `order by`, because sorting would take locks on rows that `limit` drops.
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
