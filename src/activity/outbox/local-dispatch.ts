import type { Database, Transaction } from '#platform/database.ts'
import type { SubscribedHook } from './subscribed-hooks.ts'

/**
 * A sender in this process. It gets the deliveries that are stored for it when the transaction commits, without a query: reading them
 * from the database is a quarter of the cost of a delivery.
 */
export interface LocalSender {
  number: number
  /** Whether it can take one more delivery of this hook. */
  takes(hook_id: number): boolean
}

/** The deliveries of one payload that are stored for a local sender. */
export interface Batch {
  sender: number
  payload_id: number
  event: string
  body: string
  deliveries: { id: number; guid: string; hook: SubscribedHook }[]
  /** The trace of the act; null unless traces are on. */
  traceparent: string | null
  /** True when the payload has other deliveries, which any sender may take. */
  rest: boolean
}

const senders = new WeakMap<Database, () => LocalSender | undefined>()

/** Deliveries stored through `db` go to this sender while there is one. */
export function setLocalSender(db: Database, sender: () => LocalSender | undefined) {
  senders.set(db, sender)
}

/** The number of the sender that gets a hook's delivery; null when any sender may take it. */
export function localSenderFor(db: Transaction): (hook: SubscribedHook) => number | null {
  const sender = senders.get(db.home)?.()
  return ({ id, throttled_until }) => {
    const free = throttled_until === null || throttled_until <= db.now
    return sender && free && sender.takes(id) ? sender.number : null
  }
}
