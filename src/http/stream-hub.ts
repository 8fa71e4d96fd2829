import { setTimeout as sleep } from 'node:timers/promises'
import type { Belfry } from '#belfry.ts'
import { TopicFeed } from '#platform/topic-feed.ts'
import { checksOf, type Snapshot, type Topic } from '#platform/topics.ts'
import { DatabaseUnavailable } from '#platform/unavailable.ts'
import { failureOf } from './errors.ts'
import type { Look, News, StreamReader } from './stream-reader.ts'

/** After a commit we look at once, and again a few times: an event shows only when all transactions that began before it have ended. */
const looks = [0, 30, 100, 400, 1500]
/**
 * Without commits we still look if it is not known what a stream depends on: some things change with time alone, and the notification of
 * another node's commit may be lost. Heartbeats are more frequent. In milliseconds.
 */
const quiet = 30_000
const beat = 10_000

/** How many looks of all streams run at once: streams must not take the database connections that requests need. */
const mostLooks = 4
/** All streams together look 500 times in a second at most: the more of them have something to look for, the less often each looks. In milliseconds. */
const share = 2

/** The hubs of one process. Streams of the same key, which is a caller and an address, share one. */
export class Hubs {
  readonly belfry: Belfry
  readonly feed: TopicFeed
  /** Those that may find something. */
  readonly busy = new Set<Hub>()
  readonly #hubs = new Map<string, Hub>()
  #looking = 0
  readonly #waiting: (() => void)[] = []

  constructor(belfry: Belfry) {
    this.belfry = belfry
    this.feed = new TopicFeed(belfry.db, belfry.log)
  }

  get(key: string): Hub | undefined {
    return this.#hubs.get(key)
  }

  open(key: string, bookmark: string | null, pause: number): Hub {
    const hub: Hub = new Hub(this, bookmark, pause, () => this.#close(key, hub))
    this.#hubs.set(key, hub)
    return hub
  }

  #close(key: string, hub: Hub) {
    if (this.#hubs.get(key) === hub) this.#hubs.delete(key)
  }

  /** Logs bugs only. When a caller lost access, the stream just ends, and the reconnect says why. After the end of a stream, errors do not matter. */
  noteFailure(error: unknown, readers: StreamReader[]) {
    if (!failureOf(error).unexpected || readers.every(({ ended }) => ended)) return
    this.belfry.log.error({ err: error }, 'an event stream broke off')
  }

  /** Looks when one of the `mostLooks` places is free. */
  async look(look: Look, bookmark: string | null) {
    if (this.#looking >= mostLooks) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#looking++
    try {
      return await look(bookmark)
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#looking--
    }
  }
}

/** One look for all streams of the same key: its result is formatted once, and handed to each of them. */
export class Hub {
  readonly #hubs: Hubs
  readonly #pause: number
  readonly #close: () => unknown
  readonly #bell = new Bell()
  readonly #readers = new Set<StreamReader>()
  #bookmark: string | null
  #advancing: Promise<boolean> | undefined
  #topics: readonly Topic[] | undefined
  /** What rings the bell: changes of these topics, or any commit. */
  #subscribed: readonly Topic[] | undefined
  #unsubscribe: (() => void) | undefined
  /** The state of the database in which the topics were last checked. */
  #snapshot: Snapshot | undefined
  #outages = 0
  /**
   * After a change: the first transaction that had not begun then. An event shows only when all transactions that began before it have ended, so
   * looks go on until those before this one have.
   */
  #settled_by: bigint | undefined
  /** The last look found no database. */
  #away = false
  #running = false

  constructor(hubs: Hubs, bookmark: string | null, pause: number, close: () => unknown) {
    this.#hubs = hubs
    this.#bookmark = bookmark
    this.#pause = pause
    this.#close = close
  }

  /** The position up to which all of its readers have been sent events. */
  get bookmark() {
    return this.#bookmark
  }

  /** From now on the reader gets what the hub finds. */
  attach(reader: StreamReader) {
    this.#readers.add(reader)
    if (!this.#running) void this.#run()
  }

  detach(reader: StreamReader) {
    this.#readers.delete(reader)
    if (!this.#readers.size) this.#end()
  }

  /** Looks now. If a look is running, it may have begun too early, so this looks again after it. True when something was found. */
  async advance(): Promise<boolean> {
    while (this.#advancing) await this.#advancing
    this.#advancing = this.#advance()
    try {
      return await this.#advancing
    } finally {
      this.#advancing = undefined
    }
  }

  async #advance(): Promise<boolean> {
    const [reader] = this.#readers
    if (!reader) return false
    try {
      const { news, bookmark, topics } = await this.#hubs.look(reader.look, this.#bookmark)
      this.#bookmark = bookmark
      this.#topics = topics
      this.#away = false
      if (!news.length) return false
      const text = formatAll(news)
      for (const each of this.#readers) each.push(text)
      return true
    } catch (error) {
      this.#away = error instanceof DatabaseUnavailable
      // What this look would have found is still to be found.
      this.#snapshot = undefined
      if (this.#away) return false
      this.#hubs.noteFailure(error, [...this.#readers])
      for (const each of this.#readers) each.end()
      this.#readers.clear()
      this.#end()
      return false
    }
  }

  /** Whether another look may find something. Many streams ask with one statement. */
  async #mayFind(): Promise<boolean> {
    if (!this.#topics) return true
    try {
      const { db } = this.#hubs.belfry
      const { outages } = db
      const former = this.#outages === outages ? this.#snapshot : undefined
      const { changed, snapshot } = await checksOf(db).check(this.#topics, former)
      this.#snapshot = snapshot
      this.#outages = outages
      const [oldest = 0n, next = 0n] = snapshot.split(':', 2).map(BigInt)
      if (changed) {
        this.#settled_by = next
        // Otherwise the next look could take the caller from a cache, from before the commit, and no later look would be due.
        db.noteCommit()
      }
      if (this.#settled_by === undefined) return false
      if (oldest >= this.#settled_by) this.#settled_by = undefined
      return true
    } catch {
      // The look finds out whether the database is away.
      return true
    }
  }

  /**
   * Any commit rings while the topics are not known, or while an event may be hidden by older transactions. True if something else rings now than
   * before: then the caller must check again, because a commit in between may have rung nothing.
   */
  #subscribe(): boolean {
    const topics = this.#settled_by === undefined ? this.#topics : undefined
    if (this.#unsubscribe && topics === this.#subscribed) return false
    this.#unsubscribe?.()
    const ring = () => this.#bell.ring()
    this.#subscribed = topics
    this.#unsubscribe = topics ? this.#hubs.feed.subscribe(topics, ring) : this.#hubs.belfry.db.onTransactionEnd(ring)
    return true
  }

  async #run() {
    this.#running = true
    this.#subscribe()
    let looked = performance.now()
    let last_beat = looked
    for (let round = 0; this.#readers.size; round++) {
      const rung = await this.#bell.wait(looks[round] ?? beat)
      if (!this.#readers.size) break
      if (rung) round = -1
      if (rung || round < looks.length || (!this.#topics && performance.now() - looked >= quiet)) {
        this.#hubs.busy.add(this)
        const early = looked + Math.max(this.#pause, share * this.#hubs.busy.size) - performance.now()
        if (early > 0) await sleep(early, undefined, { ref: false })
        if (!(await this.#mayFind())) round = looks.length
        // If a look found something, there may be more than one look returns.
        else if (await this.advance()) round = -1
        // Streams outlive an outage: they look again soon, and at once when the database is back.
        else if (this.#away) round = Math.min(round, 2)
        if (this.#subscribe()) round = Math.min(round, 0)
        looked = performance.now()
      }
      if (round >= looks.length) this.#hubs.busy.delete(this)
      if (performance.now() - last_beat < beat) continue
      last_beat = performance.now()
      for (const reader of this.#readers) reader.beat()
    }
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.#hubs.busy.delete(this)
    this.#running = false
  }

  #end() {
    this.#close()
    this.#bell.ring()
  }
}

export const formatAll = (news: News[]) =>
  news.map(({ id, data }) => `${id === null ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`).join('')

/** Wakes a waiting caller; a ring without one is kept for the next `wait`. */
class Bell {
  #rung = false
  #wake: (() => void) | undefined

  ring() {
    this.#rung = true
    this.#wake?.()
  }

  /** True when it was rung, false when the time was over first. */
  async wait(milliseconds: number): Promise<boolean> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    const rung = this.#rung
    this.#rung = false
    return rung
  }
}
