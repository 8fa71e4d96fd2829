import { ByteCache } from './byte-cache.ts'
import type { Database } from './database.ts'
import type { Replica } from './replica.ts'
import { checksOf, responseAge, type Snapshot, snapshotAge, type Topic } from './topics.ts'

/** A value that was read from the database. */
export interface Loaded<T> {
  value: T
  /** What the value depends on. If that is not known, any commit makes it out of date. */
  topics: readonly Topic[] | undefined
  /** Estimated, without the key and the topics. */
  bytes: number
}

type Load<T> = (db: Database) => Promise<Loaded<T>>

interface LoadOptions<T> {
  /** A cached value that does not suffice is loaded again. */
  suffices?(value: T): boolean
  /** Loaded from if the value is right there. */
  replica?: Replica | undefined
}

/** When a value was last known to be right: by the commits of this process, by the monotonic clock and by the injected one. */
interface Moment {
  commits: number
  outages: number
  at: number
  now: number
}

interface Kept<T> extends Moment, Loaded<T> {
  snapshot: Snapshot
  /** By the injected clock. */
  loaded_at: number
}

/** In milliseconds. The notification of another node's commit may be lost. */
const longestUnchecked = 800
const minute = 60_000

/**
 * Caches what was read from the database. After a commit, the topics that a value depends on are checked: if none has changed, the value is
 * still right. Limited in bytes.
 */
export class CheckedCache<T> {
  readonly #db: Database
  readonly #kept: ByteCache<Kept<T>>
  readonly #loading = new Map<string, Moment & { value: Promise<T> }>()
  #sweep: NodeJS.Timeout | undefined

  constructor(db: Database, bytes: number) {
    this.#db = db
    this.#kept = new ByteCache(bytes)
    db.onRewound(() => this.#kept.clear())
  }

  /** The value, if nothing was committed since it was last right. */
  peek(key: string): T | undefined {
    const kept = this.#kept.get(key)
    return kept && this.#isRight(kept) ? kept.value : undefined
  }

  /** The value even if it may be out of date, to prepare what it will probably be needed for. */
  likely(key: string): T | undefined {
    const kept = this.#kept.get(key)
    return kept && (this.#isRight(kept) || this.#isCheckable(kept)) ? kept.value : undefined
  }

  /** Checks a value that will probably be requested, together with the checks that other callers make now. */
  prepare(key: string) {
    const kept = this.#kept.get(key)
    if (!kept?.topics || this.#isRight(kept) || !this.#isCheckable(kept)) return
    const moment = this.#moment()
    checksOf(this.#db)
      .check(kept.topics, kept.snapshot)
      .then(({ changed, snapshot }) => {
        if (!changed && this.#kept.get(key) === kept) this.#keep(key, { ...kept, ...moment, snapshot })
      })
      // Without the database, the request itself fails.
      .catch(() => {})
  }

  /** Concurrent callers share a load. */
  async getOrLoad(key: string, load: Load<T>, { suffices = () => true, replica }: LoadOptions<T> = {}): Promise<T> {
    const begun = this.#loading.get(key)
    const shared = begun && this.#isRight(begun) && { value: await begun.value }
    if (shared && suffices(shared.value)) return shared.value
    // Read before the load, because a commit during the load makes the value out of date.
    const moment = this.#moment()
    const loading = { ...moment, value: this.#findOrLoad(key, moment, load, { suffices, replica }) }
    this.#loading.set(key, loading)
    try {
      return await loading.value
    } finally {
      if (this.#loading.get(key) === loading) this.#loading.delete(key)
    }
  }

  async #findOrLoad(key: string, moment: Moment, load: Load<T>, { suffices, replica }: Required<LoadOptions<T>>): Promise<T> {
    const kept = this.#kept.get(key)
    if (kept && this.#isRight(kept) && suffices(kept.value)) return kept.value
    const former = kept && this.#isCheckable(kept) ? kept : undefined
    // The snapshot is taken before the load. A value whose topics are not known needs none.
    const { changed, snapshot } =
      kept && !kept.topics
        ? { changed: true, snapshot: '' }
        : await checksOf(this.#db).check(former?.topics ?? [], former?.snapshot)
    if (former && !changed && suffices(former.value)) {
      this.#keep(key, { ...former, ...moment, snapshot })
      return former.value
    }
    const copied = snapshot ? await replica?.load(load) : undefined
    if (copied) {
      this.#keep(key, { ...copied.loaded, ...moment, snapshot: copied.snapshot, loaded_at: moment.now })
      return copied.loaded.value
    }
    const loaded = await load(this.#db)
    // Without a snapshot its topics could not be checked; the next load takes one.
    if (loaded.topics && !snapshot) this.#kept.remove(key)
    else this.#keep(key, { ...loaded, ...moment, snapshot, loaded_at: moment.now })
    return loaded.value
  }

  #moment(): Moment {
    return { commits: this.#db.commits, outages: this.#db.outages, at: performance.now(), now: this.#db.now.getTime() }
  }

  #isRight({ commits, at, now }: Moment) {
    if (commits !== this.#db.commits || performance.now() - at >= longestUnchecked) return false
    return Math.abs(this.#db.now.getTime() - now) < longestUnchecked
  }

  #isCheckable({ topics, outages, at, loaded_at }: Kept<T>) {
    if (outages !== this.#db.outages) return false
    return topics && performance.now() - at < snapshotAge && Math.abs(this.#db.now.getTime() - loaded_at) < responseAge
  }

  #keep(key: string, kept: Kept<T>) {
    this.#kept.set(key, kept, kept.bytes + key.length + 40 * (kept.topics?.length ?? 0) + 300)
    this.#sweep ??= setTimeout(() => this.#removeOld(), minute).unref()
  }

  /** Values that can no longer be checked are removed even if no other value is requested. */
  #removeOld() {
    const old = performance.now() - snapshotAge
    this.#kept.removeWhile(({ at }) => at < old)
    this.#sweep = this.#kept.bytes ? setTimeout(() => this.#removeOld(), minute).unref() : undefined
  }
}
