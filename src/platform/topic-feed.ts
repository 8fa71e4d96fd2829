import { type Database, sql } from './database.ts'
import { type Logger, logFailure } from './log.ts'
import { type Snapshot, snapshotAge, type Topic } from './topics.ts'

/** Milliseconds between two reads: commits in between are read together. */
const together = 5
/** In milliseconds: the notification of another node's commit may be lost. */
const quiet = 5000
/** If more have changed since the last read, every subscriber is called. */
const mostTopics = 5000

/**
 * Calls subscribers when one of their topics changes. One statement after a commit finds what changed, however many subscribers there are, and
 * none is sent while nothing is committed but every few seconds.
 */
export class TopicFeed {
  readonly #db: Database
  readonly #log: Logger
  readonly #subscribers = new Map<Topic, Set<() => void>>()
  #count = 0
  #off: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  /** When the timer ends, and when the last read began. */
  #due = 0
  #read_at = -Infinity
  #reading = false
  #again = false
  /** Changes up to here were reported. */
  #last: { snapshot: Snapshot; outages: number; at: number } | undefined

  constructor(db: Database, log: Logger) {
    this.#db = db
    this.#log = log
  }

  /**
   * `listener` is called after changes that are committed from now on, until the returned function is called. A change of which the subscriber
   * cannot know whether it was before or after the subscription is the subscriber's to check.
   */
  subscribe(topics: readonly Topic[], listener: () => void): () => void {
    for (const topic of topics) {
      const listeners = this.#subscribers.get(topic) ?? new Set()
      this.#subscribers.set(topic, listeners.add(listener))
    }
    if (++this.#count === 1) this.#start()
    return () => {
      for (const topic of topics) {
        const listeners = this.#subscribers.get(topic)
        listeners?.delete(listener)
        if (!listeners?.size) this.#subscribers.delete(topic)
      }
      if (--this.#count === 0) this.#stop()
    }
  }

  #start() {
    this.#off = this.#db.onTransactionEnd((ending) => ending !== 'rolled back' && this.#readAfter(together))
    this.#readAfter(together)
  }

  #stop() {
    this.#off?.()
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Reads when the last read was so long ago, unless a read is due earlier. */
  #readAfter(pause: number) {
    if (this.#reading) {
      // It may not see the commit.
      this.#again = true
      return
    }
    const due = this.#read_at + pause
    if (this.#timer !== undefined && this.#due <= due) return
    clearTimeout(this.#timer)
    this.#due = due
    this.#timer = setTimeout(() => void this.#read(), Math.max(0, due - performance.now())).unref()
  }

  async #read() {
    this.#timer = undefined
    this.#read_at = performance.now()
    this.#reading = true
    this.#again = false
    try {
      await this.#report()
    } catch (error) {
      logFailure(this.#log, error, 'could not read which topics have changed')
    }
    this.#reading = false
    if (this.#count) this.#readAfter(this.#again ? together : quiet)
  }

  async #report() {
    const at = this.#read_at
    const { outages } = this.#db
    const last = this.#last?.outages === outages && at - this.#last.at < snapshotAge ? this.#last : undefined
    const since = last?.snapshot ?? null
    const [found] = await this.#db.genericPlanRows<{ snapshot: Snapshot; topics: Topic[] }>(sql`
      select pg_current_snapshot()::text as snapshot, array(
        select topic from topic_changes c
        where c.xid >= pg_snapshot_xmin(${since}::pg_snapshot) and not pg_visible_in_snapshot(c.xid, ${since}::pg_snapshot)
        limit ${mostTopics + 1}) as topics`)
    if (!found) return
    this.#last = { snapshot: found.snapshot, outages, at }
    const missed = !last || found.topics.length > mostTopics
    const changed = missed ? this.#subscribers.keys() : new Set(found.topics)
    // First collected, because a listener may change its subscription.
    const listeners = new Set<() => void>()
    for (const topic of changed) for (const listener of this.#subscribers.get(topic) ?? []) listeners.add(listener)
    for (const listener of listeners) listener()
  }
}
