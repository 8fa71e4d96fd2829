import { channel } from 'node:diagnostics_channel'
import type { Database } from '#platform/database.ts'
import { type Logger, logFailure } from '#platform/log.ts'
import { DatabaseUnavailable } from '#platform/unavailable.ts'
import { type KnownHealth, type Outcome, recordOutcomes, type ThrottledHook } from './outcomes.ts'
import { openPace } from './pace.ts'

/**
 * Attempts to record outcomes, and the pause between them in milliseconds. Attempts during an outage of the database do not count, because
 * the number of unrecorded outcomes is bounded, and an unrecorded delivery is sent again.
 */
const mostAttempts = 60
const pause = 1000

/** Lets tests stop a sender at the point where it is about to record outcomes. */
const recordingChannel = channel('belfry:deliveries:recording')

/** Called after an attempt; `throttled` is false when the outcomes could not be recorded. */
type Recorded = (batch: Outcome[], throttled: ThrottledHook[] | false) => Promise<void>

/** Records outcomes in batches: those that arrive while a batch is written form the next batch. */
export class Recorder {
  readonly #db: Database
  readonly #log: Logger
  readonly #recorded: Recorded
  readonly #outcomes: Outcome[] = []
  readonly #health: KnownHealth = new Map()
  readonly #pace = openPace(10)
  #size = 0
  #busy = false
  #hurried = false

  constructor(db: Database, log: Logger, recorded: Recorded) {
    this.#db = db
    this.#log = log
    this.#recorded = recorded
  }

  /** The number of unrecorded outcomes. */
  get size() {
    return this.#size
  }

  /** If the hook had failures, another node may have counted them, so the known health may be out of date. */
  add(outcome: Outcome, had_failures: boolean) {
    if (had_failures) this.#health.delete(outcome.hook_id)
    this.#outcomes.push(outcome)
    this.#size++
    if (!this.#busy) void this.#recordAll()
  }

  /** From now on, makes one attempt only. */
  hurry() {
    this.#hurried = true
  }

  async #recordAll() {
    this.#busy = true
    while (this.#outcomes.length) {
      await this.#pace()
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
        const away = error instanceof DatabaseUnavailable
        logFailure(this.#log, error, 'outcomes of webhooks could not be recorded', { deliveries: batch.length })
        if (this.#hurried || (!away && attempt >= mostAttempts)) return false
        await new Promise((resolve) => setTimeout(resolve, pause))
      }
    }
  }
}
