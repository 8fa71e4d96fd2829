import type { Database, Transaction } from '#platform/database.ts'
import type { Listener } from './outbox.ts'

/**
 * A sender in this very process. What is stored for it is in its hands as soon as it is committed: it need not ask the database for it,
 * which is a quarter of what a delivery costs.
 */
export interface Hand {
  number: number
  /** Whether it can take one more of this hook. */
  takes(hook_id: number): boolean
}

/** What a sender is handed: the deliveries of one payload, which are marked as its own already. */
export interface Handful {
  sender: number
  payload_id: number
  event: string
  body: string
  deliveries: { id: number; guid: string; hook: Listener }[]
  /** Others are left for whoever takes them. */
  rest: boolean
}

const hands = new WeakMap<Database, () => Hand | undefined>()

/** From now on what is stored through `db` goes to this hand, as long as there is one. */
export function lendHand(db: Database, hand: () => Hand | undefined) {
  hands.set(db, hand)
}

/** Whose hands a hook's delivery goes to; null for whoever takes it. */
export function handFor(db: Transaction): (hook: Listener) => number | null {
  const hand = hands.get(db.home)?.()
  return ({ id, throttled_until }) => {
    const free = throttled_until === null || throttled_until <= db.now
    return hand && free && hand.takes(id) ? hand.number : null
  }
}
