import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from './clock.ts'
import { Database, sql } from './database.ts'
import { connectionsTo } from './database-servers.ts'
import type { Logger } from './log.ts'
import { randomText } from './secrets.ts'
import { checksOf, type Snapshot, snapshotAge, type Topic } from './topics.ts'

/** What reading found, with what it depends on. */
interface Dependent {
  topics: readonly Topic[] | undefined
}

/** Milliseconds until a comparison that failed is repeated. */
const pause = 10_000
/** Milliseconds between two looks for the row of the comparison, and how many there are. */
const replay = { pause: 100, looks: 50 }

/**
 * A standby of the database that some lists are read from. It is always a little behind the primary, so what it returns is used only if the
 * primary confirms that a reader there would have got the same. Otherwise, and when the standby does not answer, the caller reads from the
 * primary.
 *
 * After a failover, the former primary and standbys that still follow it may have transactions that the new primary lacks, under the numbers
 * of others. So a server is used once it has a row that was written to the primary since the last outage of either.
 */
export class Replica implements AsyncDisposable {
  readonly counts = { served: 0, behind: 0, failed: 0 }
  readonly #db: Database
  readonly #primary: Database
  readonly #log: Logger
  /** The outages after which it was found to follow the primary. */
  #followed: string | undefined
  #comparing = false
  #promoted = false
  /** Oldest transactions of the primary that had not ended, and when: at most two. */
  #marks: { at: number; xmin: bigint }[] = []

  constructor(url: string, primary: Database, clock: Clock, log: Logger) {
    this.#primary = primary
    this.#log = log
    this.#db = new Database(connectionsTo(url), clock, { reads_standby: true })
    this.#db.health.onChange((away) => {
      if (away) log.warn('the replica does not answer: everything is read from the primary until it answers again')
      else log.info('the replica answers again')
    })
  }

  /** What `load` returns, and the state of the primary in which it is right. Undefined if it must be loaded from the primary. */
  load<T extends Dependent>(load: (db: Database) => Promise<T>): Promise<{ loaded: T; snapshot: Snapshot } | undefined> {
    return this.#attempt(async (db) => {
      const horizon = await this.#horizon()
      const loaded = await load(db)
      if (!loaded.topics) return undefined
      // The value is like a cached one of an earlier state: it is right if nothing that it depends on has changed since.
      const { changed, snapshot } = await checksOf(this.#primary).check(loaded.topics, `${horizon}:${horizon}:`)
      return changed || !this.#isRecent(horizon, snapshot) ? undefined : { loaded, snapshot }
    })
  }

  /** What `read` returns, if the replica has everything that was committed before this call. */
  read<T>(read: (db: Database) => Promise<T>): Promise<{ value: T } | undefined> {
    return this.#attempt(async (db) => {
      const [{ snapshot }, horizon] = await Promise.all([checksOf(this.#primary).check([]), this.#horizon()])
      return horizon < xmaxOf(snapshot) ? undefined : { value: await read(db) }
    })
  }

  async #attempt<T>(work: (db: Database) => Promise<T | undefined>): Promise<T | undefined> {
    if (this.#db.health.away) return undefined
    const outages = this.#outages
    // Requests do not wait for the comparison.
    if (this.#followed !== outages) return void this.#compare(outages)
    try {
      const read = await work(this.#db)
      const found = this.#followed === outages && this.#outages === outages ? read : undefined
      this.counts[found === undefined ? 'behind' : 'served']++
      return found
    } catch (error) {
      // A record may be missing there, and a standby cancels statements that delay it. If the error has another cause, the primary has it too.
      this.#log.debug({ err: error }, 'could not read from the replica')
      this.counts.failed++
      return undefined
    }
  }

  /**
   * All transactions with a smaller number have ended on the replica. Snapshots of a standby do not list those that were running when it was
   * taken, so later ones may be missing.
   */
  async #horizon(): Promise<bigint> {
    const [found] = await this.#db.genericPlanRows<{ xmin: string; standby: boolean }>(
      sql`select pg_snapshot_xmin(pg_current_snapshot())::text as xmin, pg_is_in_recovery() as standby`,
    )
    if (!found?.standby) this.#followed = undefined
    return BigInt(found?.xmin ?? 0)
  }

  /** A replica may be replaced while it is away, and a failover replaces the primary. */
  get #outages() {
    return `${this.#primary.outages} ${this.#db.outages}`
  }

  /** Changes of topics are deleted after a while, so a replica that is far behind is not used. */
  #isRecent(horizon: bigint, snapshot: Snapshot) {
    this.#mark(snapshot)
    const [oldest] = this.#marks
    return oldest !== undefined && horizon >= oldest.xmin
  }

  #mark(snapshot: Snapshot) {
    const now = performance.now()
    this.#marks = this.#marks.filter(({ at }) => now - at < snapshotAge)
    if (now - (this.#marks.at(-1)?.at ?? -Infinity) >= snapshotAge / 2) this.#marks.push({ at: now, xmin: xminOf(snapshot) })
  }

  async #compare(outages: string) {
    if (this.#comparing) return
    this.#comparing = true
    let follows = false
    try {
      follows = await this.#follows()
    } catch (error) {
      this.#log.warn({ err: error }, 'nothing is read from the replica, because it could not be compared with the primary')
    }
    if (follows) this.#followed = outages
    else await sleep(pause, undefined, { ref: false })
    this.#comparing = false
  }

  /** A server with other data would be right by accident at best. */
  async #follows(): Promise<boolean> {
    const identify = (db: Database) =>
      db.load<{ id: string; standby: boolean }>(
        sql`select system_identifier::text || current_database() as id, pg_is_in_recovery() as standby from pg_control_system()`,
      )
    const [own, other] = await Promise.all([identify(this.#primary), identify(this.#db)])
    if (own.id !== other.id) {
      this.#log.error('the server in BELFRY_REPLICA_URL is no standby of the one in DATABASE_URL: nothing is read from it')
      return false
    }
    if (!other.standby && !this.#promoted)
      this.#log.warn('the server in BELFRY_REPLICA_URL was promoted: nothing is read from it until it is a standby')
    this.#promoted = !other.standby
    if (this.#promoted) {
      // Of several servers, another one may be a standby.
      this.#db.health.suspect()
      return false
    }
    const { snapshot } = await checksOf(this.#primary).check([])
    this.#mark(snapshot)
    return this.#replays()
  }

  /** Whether it gets a row that is written to the primary now. No topic has this name. */
  async #replays(): Promise<boolean> {
    const proof = `replica ${randomText(12)}`
    await this.#primary.write(sql`insert into topic_changes (topic) values (${proof}) returning topic`)
    for (let look = 0; look < replay.looks; look++) {
      if (await this.#db.first(sql`select 1 as seen from topic_changes where topic = ${proof}`)) return true
      await sleep(replay.pause, undefined, { ref: false })
    }
    return false
  }

  async [Symbol.asyncDispose]() {
    await this.#db[Symbol.asyncDispose]()
  }
}

/** Of `xmin:xmax:xip,…`. */
const xminOf = (snapshot: Snapshot) => BigInt(snapshot.split(':')[0] ?? 0)
const xmaxOf = (snapshot: Snapshot) => BigInt(snapshot.split(':')[1] ?? 0)
