import { channel } from 'node:diagnostics_channel'
import type { Database } from '#platform/database.ts'
import type { Logger } from '#platform/log.ts'
import { DatabaseUnavailable } from '#platform/unavailable.ts'
import { type KnownHealth, type Outcome, recordOutcomes, type ThrottledHook } from './outcomes.ts'
import { Pace } from './pace.ts'

/**
 * How often we try to record outcomes of deliveries, and how long we wait in between, in milliseconds. While the database is away we wait as long as
 * it takes: the number of deliveries in hand is bounded, and a delivery that is not recorded is sent again.
 */
const mostAttempts = 60
const pause = 1000

/** A named moment in the life of deliveries, for whoever wants to watch: they are about to be recorded. */
const recordingChannel = channel('belfry:deliveries:recording')

/** What follows when outcomes are recorded; `false` when they could not be. */
type Recorded = (batch: Outcome[], throttled: ThrottledHook[] | false) => Promise<void>

/** Records outcomes, many in one statement: those that come while others are written go together with the next. */
export class Recorder {
  readonly #db: Database
  readonly #log: Logger
  readonly #recorded: Recorded
  readonly #outcomes: Outcome[] = []
  readonly #health: KnownHealth = new Map()
  readonly #pace = new Pace(10)
  #size = 0
  #busy = false
  #hurried = false

  constructor(db: Database, log: Logger, recorded: Recorded) {
    this.#db = db
    this.#log = log
    this.#recorded = recorded
  }

  /** How many outcomes are not written yet. */
  get size() {
    return this.#size
  }

  /** `doubted`: the hook had failures before, which another node may have counted, so that what we know of it is out of date. */
  add(outcome: Outcome, doubted: boolean) {
    if (doubted) this.#health.delete(outcome.hook_id)
    this.#outcomes.push(outcome)
    this.#size++
    if (!this.#busy) void this.#recordAll()
  }

  /** Tries no more than once from now on. */
  hurry() {
    this.#hurried = true
  }

  async #recordAll() {
    this.#busy = true
    while (this.#outcomes.length) {
      await this.#pace.wait()
      const batch = this.#outcomes.splice(0)
      recordingChannel.publish(batch)
      const throttled = await this.#record(batch)
      this.#size -= batch.length
      await this.#recorded(batch, throttled)
    }
    this.#busy = false
  }

  async #record(batch: Outcome[]): Promise<ThrottledHook[] | false> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await recordOutcomes(this.#db, batch, this.#health)
      } catch (error) {
        // What is not recorded is sent again by whoever comes after us: better than to forget it.
        const away = error instanceof DatabaseUnavailable
        this.#log[away ? 'debug' : 'error'](
          { err: error, deliveries: batch.length },
          'outcomes of webhooks could not be recorded',
        )
        if (this.#hurried || (!away && attempt >= mostAttempts)) return false
        await new Promise((resolve) => setTimeout(resolve, pause))
      }
    }
  }
}
