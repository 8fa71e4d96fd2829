import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'
import sql, { empty, raw, type Sql } from 'sql-template-tag'
import type { Clock } from './clock.ts'
import { DatabaseHealth, type HealthLimits, within } from './database-health.ts'
import { brief, long, openPool, type Patience, steady } from './pools.ts'
import { named } from './prepared.ts'
import { codeOf, explain, isDisconnected, unreachable } from './unavailable.ts'

export { codeOf, empty, raw, type Sql, sql }
export type Row = pg.QueryResultRow

/** What both the pool and a transaction can do. */
export interface Queryable {
  readonly now: Date
  query<R extends Row = Row>(statement: Sql): Promise<pg.QueryResult<R>>
  rows<R extends Row>(statement: Sql): Promise<R[]>
  first<R extends Row>(statement: Sql): Promise<R | undefined>
}

/** A value for a column of JSON. Half a character, which only JavaScript takes for text, becomes the sign for what cannot be shown. */
export const json = (value: unknown) =>
  JSON.stringify(value, (_, inner) => (typeof inner === 'string' ? inner.toWellFormed() : inner))

/**
 * A source of one row: a statement that reads it does not wait until its transaction is on disk. For what may be done again when the
 * machine loses its power, as all that follows from something else may.
 */
export const asyncCommit = sql`(select set_config('synchronous_commit', 'off', true)) async_commit`

/** Where a transaction ended; one that was rolled back changed nothing, but others may have waited for its end. */
export type Ending = 'committed here' | 'committed elsewhere' | 'rolled back'
/** `topics` is what a transaction of this process was about, see Transaction.touch; of other nodes' we know nothing. */
export type Topics = ReadonlyMap<string, readonly unknown[]>
type EndListener = (ending: Ending, topics: Topics) => void
const nothing: Topics = new Map()

export interface DatabaseOptions extends Partial<HealthLimits> {
  brief?: Partial<Patience>
}

export class Database implements Queryable, AsyncDisposable {
  readonly pool: pg.Pool
  /** For jobs, and for connections that are kept: see `withBackgroundTimeouts` and dedicated-connection.ts. */
  readonly background: pg.Pool
  readonly health: DatabaseHealth
  /** Plans each statement once and for all, see genericPlanRows. */
  readonly #steady: pg.Pool
  readonly #clock: Clock
  #commits = 0
  readonly #listeners = new Set<EndListener>()
  readonly #patient = new AsyncLocalStorage<true>()

  constructor(connection: pg.PoolConfig, clock: Clock, options: DatabaseOptions = {}) {
    this.#clock = clock
    this.health = new DatabaseHealth(connection, options)
    // Cached data may be out of date, because we missed commits of other nodes.
    this.health.onChange((away) => away || this.notifyTransactionEnd('committed elsewhere'))
    const patience = { ...brief, ...options.brief }
    this.pool = openPool({ max: 16, ...connection }, patience, this.health)
    this.background = openPool({ max: 12, ...connection }, long, this.health)
    this.#steady = openPool({ max: 8, ...connection, options: steady }, patience, this.health)
  }

  get now() {
    return this.#clock.now()
  }

  /** Transactions that were committed, as far as we know: what was read before may be out of date when it moves. */
  get commits() {
    return this.#commits
  }

  /** Called by every transaction of this process that ends, and by the word of another one's. */
  notifyTransactionEnd(ending: Ending, topics = nothing) {
    if (ending !== 'rolled back') this.#commits++
    for (const listener of this.#listeners) listener(ending, topics)
  }

  /** Calls `listener` after every transaction, until the returned function is called. */
  onTransactionEnd(listener: EndListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Runs `work` with the time-outs of background work: a job may read or write more than a request does. */
  withBackgroundTimeouts<T>(work: () => Promise<T>): Promise<T> {
    return this.#patient.run(true, work)
  }

  get #current() {
    return this.#patient.getStore() ? this.background : this.pool
  }

  /** While the database is known to be away, nothing waits for it. */
  async #attend<T>(work: () => Promise<T>): Promise<T> {
    if (this.health.away) throw unreachable()
    try {
      return await work()
    } catch (error) {
      if (isDisconnected(error)) this.health.suspect()
      throw explain(error)
    }
  }

  /** A connection for the caller alone, who must release it. */
  connect(): Promise<pg.PoolClient> {
    return this.#attend(() => this.#current.connect())
  }

  /** Whether it answers, now. */
  async answers(milliseconds: number): Promise<boolean> {
    return within(milliseconds, this.query(sql`select`)).then(
      () => true,
      () => false,
    )
  }

  query<R extends Row>(statement: Sql) {
    return this.#attend(() => this.#current.query<R>(named(statement)))
  }

  async rows<R extends Row>(statement: Sql) {
    return (await this.query<R>(statement)).rows
  }

  /**
   * Planned once, whatever its values, along indexes in their order: for statements over many partitions whose way is always the same.
   * Left to itself, the database plans them anew each time, which takes longer than running them (3 ms of 4); and told to plan once, it
   * reads and sorts all of what an average repository has, which a busy one has two hundred times (38 ms instead of 1).
   */
  async genericPlanRows<R extends Row>(statement: Sql) {
    return (await this.#attend(() => this.#steady.query<R>(named(statement)))).rows
  }

  /** Planned anew for its very values: for statements whose best way depends on them. */
  async customPlanRows<R extends Row>(statement: Sql) {
    const { text, values } = statement
    return (await this.#attend(() => this.#current.query<R>({ text, values }))).rows
  }

  async first<R extends Row>(statement: Sql) {
    return (await this.query<R>(statement)).rows[0]
  }

  /** Runs `work` in one transaction; a deadlock or a serialization failure runs it again, so it must not reach outside. */
  async transaction<T>(work: (db: Transaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(work)
      } catch (error) {
        if (attempt === 4 || !retriable.has(codeOf(error) ?? '')) throw explain(error)
      }
    }
  }

  async #attempt<T>(work: (db: Transaction) => Promise<T>): Promise<T> {
    const client = await this.connect()
    const transaction = new Transaction(client, this.now, this)
    let broken: Error | undefined
    let committing = false
    try {
      await client.query('begin')
      const result = await work(transaction)
      committing = true
      const { command } = await client.query('commit')
      // PostgreSQL answers a commit with a rollback, and no error, when a statement failed before and its error was caught.
      if (command !== 'COMMIT') throw new Error('the transaction was rolled back: a statement in it had failed')
      this.notifyTransactionEnd('committed here', transaction.topics)
      return result
    } catch (error) {
      if (isDisconnected(error)) this.health.suspect()
      await client.query('rollback').catch((failure: Error) => {
        broken = failure
      })
      // A commit whose answer is lost may have taken place.
      if (committing) this.notifyTransactionEnd('committed elsewhere', transaction.topics)
      else this.notifyTransactionEnd('rolled back')
      throw error
    } finally {
      client.release(broken)
    }
  }

  async [Symbol.asyncDispose]() {
    await Promise.all([this.health.close(), ...[this.pool, this.background, this.#steady].map((pool) => pool.end())])
  }
}

/** One moment in time: everything written in a transaction carries the same `now`. */
export class Transaction implements Queryable {
  readonly now: Date
  readonly #client: pg.PoolClient
  readonly home: Database
  readonly #topics = new Map<string, unknown[]>()

  constructor(client: pg.PoolClient, now: Date, home: Database) {
    this.#client = client
    this.now = now
    this.home = home
  }

  get topics(): Topics {
    return this.#topics
  }

  /** Names something that this transaction wrote, so that who waits for it looks when it is committed; what is written besides, they are handed. */
  touch(topic: string, ...written: unknown[]) {
    this.#topics.set(topic, [...(this.#topics.get(topic) ?? []), ...written])
  }

  query<R extends Row>(statement: Sql) {
    return this.#client.query<R>(named(statement))
  }

  async rows<R extends Row>(statement: Sql) {
    return (await this.query<R>(statement)).rows
  }

  async first<R extends Row>(statement: Sql) {
    return (await this.query<R>(statement)).rows[0]
  }
}

const serializationFailure = '40001'
const deadlockDetected = '40P01'
const retriable = new Set([serializationFailure, deadlockDetected])

export interface Slice {
  limit: number
  offset: number
}

/** One page, and how many there are in all. */
export interface Listed<R> {
  rows: R[]
  total: number
}

export async function listed<R extends Row>(
  db: Queryable,
  { columns, source, order }: { columns: Sql; source: Sql; order: Sql },
  { limit, offset }: Slice,
): Promise<Listed<R>> {
  const rows = await db.rows<R>(sql`select ${columns} from ${source} order by ${order} limit ${limit} offset ${offset}`)
  // A first page that is not full has told the whole number already.
  if (offset === 0 && rows.length < limit) return { rows, total: rows.length }
  const count = await db.first<{ total: number }>(sql`select count(*) as total from ${source}`)
  return { rows, total: count?.total ?? 0 }
}
