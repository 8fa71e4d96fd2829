import type { Database } from '#platform/database.ts'
import type { Logger } from '#platform/log.ts'
import { registerSender, releaseDeadSenders, renewRegistration, type SenderRegistration } from './sender-registry.ts'

/** Every so many looks, we also look for deliveries marked with the number of a sender that had already left. */
const looksBetween = 30

/** The deliveries that a sender has in hand. */
export interface Deliveries {
  inHand(): number[]
  /** Called after the connection was lost: only these are still ours; others have the rest. */
  keep(ids: number[]): void
  /** The number is lost: others may take the deliveries marked with it. */
  lose(): void
}

/** Keeps a sender registered among those of all nodes, also when its connection is lost, and releases the deliveries of dead ones. */
export class SenderMembership {
  readonly #db: Database
  readonly #log: Logger
  readonly #deliveries: Deliveries
  #membership: SenderRegistration | undefined
  /** The number of a membership whose connection was lost, until it is renewed. */
  #former: number | undefined
  /** Senders that were found without their lock, and how often in a row. */
  readonly #missing = new Map<number, number>()
  #looks = 0
  #left = false

  constructor(db: Database, log: Logger, deliveries: Deliveries) {
    this.#db = db
    this.#log = log
    this.#deliveries = deliveries
  }

  get number(): number | undefined {
    return this.#membership?.number
  }

  /** Joins if needed, then releases the deliveries of dead senders. */
  async look() {
    await this.#join()
    const relieved = await releaseDeadSenders(this.#db, this.#missing, this.#looks++ % looksBetween === 0)
    if (relieved) this.#log.warn({ deliveries: relieved }, 'a sender of webhooks is gone: its deliveries are sent by others')
  }

  async #join() {
    if (this.#membership || this.#left) return
    const membership = await registerSender(this.#db)
    try {
      if (this.#former !== undefined) await this.#renew(this.#former, membership.number)
    } catch (error) {
      await membership.leave()
      throw error
    }
    this.#former = undefined
    this.#membership = membership
    void membership.lost.then(() => {
      if (this.#membership !== membership || this.#left) return
      this.#membership = undefined
      this.#former = membership.number
      this.#deliveries.lose()
    })
  }

  async #renew(former: number, number: number) {
    this.#deliveries.keep(await renewRegistration(this.#db, former, number, this.#deliveries.inHand()))
  }

  async leave() {
    this.#left = true
    await this.#membership?.leave()
  }
}
