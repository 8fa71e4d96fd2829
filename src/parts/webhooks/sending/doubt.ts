import type { Database } from '#platform/database.ts'
import { releaseAll } from './claim.ts'

/**
 * In milliseconds. A statement whose connection is lost may run later: while PostgreSQL is paused, it waits in PostgreSQL's socket, and so may the
 * one that releases.
 */
const pause = 5000

/** Whether deliveries may carry the number of a sender that it does not know about, because the answer to a statement was lost. */
export class Doubt {
  readonly #pause: number
  /** The transaction that first released the deliveries; when the pause is over; whether all transactions of that time have ended. */
  #raised: { first?: bigint; pause_ends?: number; settled?: boolean } | undefined

  constructor(milliseconds = pause) {
    this.#pause = milliseconds
  }

  raise() {
    this.#raised = {}
  }

  /**
   * Releases the deliveries of a sender, which must have none in flight. A commit whose answer was lost may not have ended yet, because it waits
   * for a standby, for example. So the next calls release them again, until every transaction has ended that had begun at the first call; and
   * once more after a pause. Not more often, because a delivery that is stored at this moment may be sent twice.
   */
  async settle(db: Database, sender: number) {
    const raised = this.#raised
    if (!raised || (raised.settled && performance.now() < (raised.pause_ends ?? 0))) return
    const { oldest, own } = await releaseAll(db, sender)
    const now = performance.now()
    raised.first ??= own
    raised.pause_ends ??= now + this.#pause
    raised.settled = oldest >= raised.first
    if (raised.settled && now >= raised.pause_ends && this.#raised === raised) this.#raised = undefined
  }
}
