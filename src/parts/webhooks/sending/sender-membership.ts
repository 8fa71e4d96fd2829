import type { Database } from '#platform/database.ts'
import type { Logger } from '#platform/log.ts'
import { registerSender, releaseDeadSenders, renewRegistration, type SenderRegistration } from './sender-registry.ts'

/** Every so many checks, also deliveries with the number of a sender that had already left are released. */
const thoroughEvery = 30

/** The deliveries that a sender owns. */
export interface OwnedDeliveries {
  ids(): number[]
  /** Called after a lost connection was replaced: only these ids are still ours. */
  keep(ids: number[]): void
  /** Called when the number is lost: other senders may claim the deliveries that carry it. */
  lose(): void
}

/** Keeps a sender registered, renews the registration after a lost connection, and releases deliveries of dead senders. */
export class SenderMembership {
  readonly #db: Database
  readonly #log: Logger
  readonly #deliveries: OwnedDeliveries
  #registration: SenderRegistration | undefined
  /** The number of a registration whose connection was lost, until it is renewed. */
  #former: number | undefined
  /** How many checks in a row found a sender without its lock. */
  readonly #missing = new Map<number, number>()
  #checks = 0
  #left = false

  constructor(db: Database, log: Logger, deliveries: OwnedDeliveries) {
    this.#db = db
    this.#log = log
    this.#deliveries = deliveries
  }

  get number(): number | undefined {
    return this.#registration?.number
  }

  async check() {
    await this.#register()
    const released = await releaseDeadSenders(this.#db, this.#missing, this.#checks++ % thoroughEvery === 0)
    if (released) this.#log.warn({ deliveries: released }, 'a sender of webhooks is dead: its deliveries are released')
  }

  async #register() {
    if (this.#registration || this.#left) return
    const registration = await registerSender(this.#db)
    try {
      if (this.#former !== undefined) await this.#renew(this.#former, registration.number)
    } catch (error) {
      await registration.leave()
      throw error
    }
    this.#former = undefined
    this.#registration = registration
    void registration.lost.then(() => {
      if (this.#registration !== registration || this.#left) return
      this.#registration = undefined
      this.#former = registration.number
      this.#deliveries.lose()
    })
  }

  async #renew(former: number, number: number) {
    this.#deliveries.keep(await renewRegistration(this.#db, former, number, this.#deliveries.ids()))
  }

  async leave() {
    this.#left = true
    await this.#registration?.leave()
  }
}
