import type { Clock } from './clock.ts'
import { Database, sql } from './database.ts'
import { connectionsTo } from './database-servers.ts'
import type { Logger } from './log.ts'
import { checksOf, type Snapshot, snapshotAge, type Topic } from './topics.ts'

/** What reading found, with what it depends on. */
interface Dependent {
  topics: readonly Topic[] | undefined
}

/** Milliseconds until a comparison that failed is repeated. */
const pause = 10_000

/**
 * A standby of the database that some lists are read from. It is always a little behind the primary, so what it returns is used only if the
 * primary confirms that a reader there would have got the same. Otherwise, and when the standby does not answer, the caller reads from the
 * primary.
 */
export class Replica implements AsyncDisposable {
  readonly counts = { served: 0, behind: 0, failed: 0 }
  readonly #db: Database
  readonly #primary: Database
  readonly #log: Logger
  /** Whether it is a standby of the primary, once that is known. */
  #related: Promise<boolean> | undefined
  /** Oldest transactions of the primary that had not ended, and when: at most two. */
  #marks: { at: number; xmin: bigint }[] = []

  constructor(url: string, primary: Database, clock: Clock, log: Logger) {
    this.#primary = primary
    this.#log = log
    this.#db = new Database(connectionsTo(url), clock, { reads_standby: true })
    this.#db.health.onChange((away) => {
      // It may have been replaced meanwhile.
      this.#related = undefined
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
    this.#related ??= this.#isRelated()
    try {
      if (!(await this.#related)) return undefined
      const found = await work(this.#db)
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
    const [found] = await this.#db.genericPlanRows<{ xmin: string }>(
      sql`select pg_snapshot_xmin(pg_current_snapshot())::text as xmin`,
    )
    return BigInt(found?.xmin ?? 0)
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

  /** A server with other data would be right by accident at best. */
  async #isRelated(): Promise<boolean> {
    const identify = async (db: Database) =>
      (await db.load<{ id: string }>(sql`select system_identifier::text || current_database() as id from pg_control_system()`)).id
    try {
      const [own, other, { snapshot }] = await Promise.all([
        identify(this.#primary),
        identify(this.#db),
        checksOf(this.#primary).check([]),
      ])
      this.#mark(snapshot)
      if (own === other) return true
      this.#log.error('the server in BELFRY_REPLICA_URL is no standby of the one in DATABASE_URL: nothing is read from it')
    } catch (error) {
      this.#log.warn({ err: error }, 'nothing is read from the replica, because it could not be compared with the primary')
      setTimeout(() => (this.#related = undefined), pause).unref()
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
