import type { Database } from '#platform/database.ts'
import { releaseAll } from './claim.ts'

/** Whether deliveries may carry the number of a sender that it does not know about, because the answer to a statement was lost. */
export class Doubt {
  /** `until` is the transaction that first released the deliveries. */
  #raised: { until?: bigint } | undefined

  raise() {
    this.#raised = {}
  }

  /**
   * Releases the deliveries of a sender, which must have none in flight. A commit whose answer was lost may not have ended yet, because it waits
   * for a standby, for example. So the next calls release them again, until every transaction has ended that had begun at the first call.
   */
  async settle(db: Database, sender: number) {
    const raised = this.#raised
    if (!raised) return
    const { oldest, own } = await releaseAll(db, sender)
    raised.until ??= own
    if (oldest >= raised.until && this.#raised === raised) this.#raised = undefined
  }
}
