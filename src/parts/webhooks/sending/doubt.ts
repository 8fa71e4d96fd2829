import type { Database } from '#platform/database.ts'
import { listCarried, releaseLost } from './claim.ts'

/** In milliseconds. */
const usual = {
  /** An answer that has not come by then does not come: the limit of a statement is six seconds, see platform/pools.ts. */
  patience: 7000,
  /** Between two looks. */
  interval: 1000,
}

/** Finds deliveries that carry the number of a sender without its knowledge, because the answer to a statement was lost. */
export class Doubt {
  readonly #patience: number
  readonly #interval: number
  /** When the first look was, and its transaction. */
  #raised: { first?: { at: number; transaction: bigint } } | undefined
  /** Deliveries that the sender did not know at the last look, and since when. */
  #unknown = new Map<number, number>()
  #looked_at = -Infinity

  constructor({ patience, interval } = usual) {
    this.#patience = patience
    this.#interval = interval
  }

  raise() {
    this.#raised = {}
  }

  /**
   * Releases the deliveries of a sender that it has not known for so long that no answer can be on its way. If an answer was, they would be sent
   * twice. A commit whose answer was lost may not have ended yet, because it waits for a standby, for example; and a statement may wait in the
   * socket of a paused PostgreSQL. So the next calls look again, until every transaction has ended that had begun at the first look, and for some
   * seconds.
   */
  async settle(db: Database, sender: number, known: ReadonlySet<number>) {
    const raised = this.#raised
    const now = performance.now()
    if (!raised || now - this.#looked_at < this.#interval) return
    this.#looked_at = now
    const { ids, oldest, own } = await listCarried(db, sender)
    const former = this.#unknown
    this.#unknown = new Map(ids.filter((id) => !known.has(id)).map((id) => [id, former.get(id) ?? now]))
    const lost = ids.filter((id) => now - (this.#unknown.get(id) ?? now) >= this.#patience)
    if (lost.length) await releaseLost(db, sender, lost)
    for (const id of lost) this.#unknown.delete(id)
    raised.first ??= { at: now, transaction: own }
    const { first } = raised
    const isOver = oldest >= first.transaction && now - first.at >= this.#patience && this.#unknown.size === 0
    if (isOver && this.#raised === raised) this.#raised = undefined
  }
}
