import pg from 'pg'

/** Those that no pool uses at the moment, by their database and pool. */
const kept = new Map<string, KeptClient[]>()

/** The pools of a database differ in how many connections they may have, or in whether they send statements without waiting. */
const keyOf = ({ database, application_name, max, pipeline }: pg.PoolConfig) =>
  `${database} ${application_name} ${max} ${pipeline}`

/** Every session that is open, in a pool or kept. */
const open = new Set<KeptClient>()

/** Those that are about to be kept: a pool does not wait for the end of its clients. */
const leaving = new Set<Promise<void>>()

/** Whatever a session may have left: what it knows of tables and statements stays. */
const tidy = 'rollback; select pg_advisory_unlock_all(); unlisten *; reset all'

/**
 * A client for pools of tests, whose session is not ended but kept for the next forge on the same database: to get to know the tables, and
 * to plan every statement for the first time, takes longer than most tests need the database for.
 */
export class KeptClient extends pg.Client {
  readonly #key: string
  #open = false
  // There, but not in its type.
  declare readonly processID: number
  declare readonly ref: () => void
  declare readonly unref: () => void
  declare readonly _getActiveQuery: () => unknown

  constructor(config: pg.PoolConfig = {}) {
    super(config)
    this.#key = keyOf(config)
    // biome-ignore lint/correctness/noConstructorReturn: a pool makes its clients by `new`, and there is no other place to give it one.
    return kept.get(this.#key)?.pop() ?? this
  }

  override connect(): Promise<pg.Client>
  override connect(callback: (error: Error | null) => void): void
  override connect(callback?: (error: Error | null) => void) {
    if (this.#open) {
      this.ref()
      if (!callback) return Promise.resolve(this)
      return process.nextTick(callback, null)
    }
    this.#open = true
    open.add(this)
    this.once('end', () => {
      this.#open = false
      open.delete(this)
    })
    return callback ? super.connect(callback as (error: Error) => void) : super.connect()
  }

  override end(): Promise<void>
  override end(callback: (error: Error) => void): void
  override end(callback?: (error: Error) => void) {
    const ended = this.#leave().catch(() => super.end())
    leaving.add(ended)
    void ended.finally(() => leaving.delete(ended))
    if (!callback) return ended
    ended.then(() => (callback as () => void)(), callback)
  }

  async #leave() {
    if (!this.#open || this._getActiveQuery()) return super.end()
    await this.query(tidy)
    for (const event of ['error', 'notice', 'notification', 'drain'] as const) this.removeAllListeners(event)
    this.on('error', () => this.#drop())
    this.unref()
    const others = kept.get(this.#key) ?? []
    kept.set(this.#key, [...others, this])
  }

  #drop() {
    this.#open = false
    open.delete(this)
    kept.set(
      this.#key,
      (kept.get(this.#key) ?? []).filter((client) => client !== this),
    )
  }
}

/** The server processes of the open sessions. */
export async function openSessions(): Promise<number[]> {
  await Promise.allSettled(leaving)
  // A session that is only now opening has no process yet; one that never opens has none for ever.
  for (let tries = 0; tries < 100 && [...open].some(({ processID }) => !processID); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return [...open].flatMap(({ processID }) => processID ?? [])
}
