import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'
import sql, { empty, raw, type Sql } from 'sql-template-tag'
import { TransactionConnection } from './begin.ts'
import type { Clock } from './clock.ts'
import { DatabaseHealth, type HealthLimits } from './database-health.ts'
import { within } from './deadline.ts'
import { missing } from './errors.ts'
import { brief, long, openPool, type Patience, pipelined, type SessionSettings, steady } from './pools.ts'
import { isOutdated, named } from './prepared.ts'
import { retried } from './retry-transaction.ts'
import type { Attributes } from './tracing/finished-span.ts'
import type { Tracer } from './tracing/tracer.ts'
import { codeOf, explain, isDisconnected, unreachable } from './unavailable.ts'

export { codeOf, empty, raw, type Sql, sql }
export type Row = pg.QueryResultRow

/** The methods that a pool and a transaction share. */
export interface Queryable {
  readonly now: Date
  query<R extends Row = Row>(statement: Sql): Promise<pg.QueryResult<R>>
  rows<R extends Row>(statement: Sql): Promise<R[]>
  /** See Database.genericPlanRows. In a transaction, the statement has the plan of its connection. */
  genericPlanRows<R extends Row>(statement: Sql): Promise<R[]>
  first<R extends Row>(statement: Sql): Promise<R | undefined>
  /** The first row; Not Found if there is none. */
  load<R extends Row>(statement: Sql): Promise<R>
}

/** What loading one record needs. */
export type Reader = Pick<Queryable, 'genericPlanRows' | 'first'>

/** A value for a JSON column. PostgreSQL refuses lone surrogates, so they become U+FFFD. */
export function json(value: unknown): string {
  const text = JSON.stringify(value)
  // Escapes of surrogates stand for lone ones only. Looking at each value takes five times as long as writing them all.
  if (!text?.includes('\\ud')) return text
  return JSON.stringify(value, (_, inner) => (typeof inner === 'string' ? inner.toWellFormed() : inner))
}

/**
 * A source of one row. A statement that reads it commits without waiting for the disk. Use it for work that is repeated after a power
 * loss.
 */
export const asyncCommit = sql`(select set_config('synchronous_commit', 'off', true)) async_commit`

/** How a transaction ended. A rollback changes nothing, but may release a lock that others wait for. */
export type Ending = 'committed here' | 'committed elsewhere' | 'rolled back'
/** The topics that a transaction of this process touched, see Transaction.touch. The topics of other nodes' transactions are unknown. */
export type Topics = ReadonlyMap<string, readonly unknown[]>
type EndListener = (ending: Ending, topics: Topics) => void
const nothing: Topics = new Map()

export interface DatabaseOptions extends Partial<HealthLimits> {
  brief?: Partial<Patience>
  long?: Partial<Patience>
  /** Settings of PostgreSQL for its sessions. */
  session?: SessionSettings
}

export class Database implements Queryable, AsyncDisposable {
  readonly pool: pg.Pool
  /** For jobs and dedicated connections: see `withBackgroundTimeouts` and dedicated-connection.ts. */
  readonly background: pg.Pool
  readonly health: DatabaseHealth
  /** Undefined when no traces are exported. */
  tracer: Tracer | undefined
  /** For genericPlanRows. */
  readonly #steady: pg.Pool
  readonly #clock: Clock
  #commits = 0
  readonly #listeners = new Set<EndListener>()
  readonly #forgetful = new Set<() => void>()
  readonly #patient = new AsyncLocalStorage<true>()

  /** Several connections are to a primary and its standbys. */
  constructor(connections: pg.PoolConfig | pg.PoolConfig[], clock: Clock, options: DatabaseOptions = {}) {
    this.#clock = clock
    const servers = [connections].flat()
    const [connection] = servers
    this.health = new DatabaseHealth(servers, options, (server) => {
      for (const pool of [this.pool, this.background, this.#steady]) Object.assign(pool.options, server)
    })
    // Cached data may be out of date, because we missed commits of other nodes.
    this.health.onChange((away) => away || this.notifyTransactionEnd('committed elsewhere'))
    const patience = { ...brief, ...options.brief }
    const { session } = options
    this.pool = openPool({ max: 16, ...connection }, patience, this.health, session)
    this.background = openPool({ max: 12, ...connection }, { ...long, ...options.long }, this.health, session)
    this.#steady = openPool({ max: 8, ...connection, ...pipelined }, patience, this.health, { ...session, ...steady })
  }

  get now() {
    return this.#clock.now()
  }

  /** The number of commits that this process knows of. When it changes, cached data may be out of date. */
  get commits() {
    return this.#commits
  }

  /**
   * How often the database was away. A failover may lose transactions, and others get their numbers: a snapshot from before it cannot be
   * compared with.
   */
  get outages() {
    return this.health.outages
  }

  /** Call this when the database shows a commit whose end may not have been reported yet: then cached data is checked again. */
  noteCommit() {
    this.#commits++
  }

  /** Reports the end of a transaction of this process or of another node. */
  notifyTransactionEnd(ending: Ending, topics = nothing) {
    if (ending !== 'rolled back') this.#commits++
    const notify = () => {
      for (const listener of this.#listeners) listener(ending, topics)
    }
    // What listeners start, such as sending, does not belong to the request.
    if (this.tracer) this.tracer.within(undefined, notify)
    else notify()
  }

  /** Calls `listener` after every transaction, until the returned function is called. */
  onTransactionEnd(listener: EndListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Call this when the database was put back into an earlier state, and nothing uses it. What this process remembers of the later one is forgotten,
   * because ids begin again.
   */
  noteRewound() {
    this.health.noteRewound()
    for (const forget of this.#forgetful) forget()
    this.notifyTransactionEnd('committed elsewhere')
  }

  /** Calls `forget` after the database was put back, until the returned function is called. Whatever outlives a request and depends on rows needs it. */
  onRewound(forget: () => void): () => void {
    this.#forgetful.add(forget)
    return () => this.#forgetful.delete(forget)
  }

  /** Whether a connection is taken, or waited for. */
  get isBusy() {
    return [this.pool, this.background, this.#steady].some((pool) => pool.waitingCount > 0 || pool.idleCount < pool.totalCount)
  }

  /** Runs `work` with the time-outs of background work: a job may read or write more than a request does. */
  withBackgroundTimeouts<T>(work: () => Promise<T>): Promise<T> {
    return this.#patient.run(true, work)
  }

  get #current() {
    return this.#patient.getStore() ? this.background : this.pool
  }

  /** Refuses at once while the database is known to be away. */
  async #attend<T>(work: () => Promise<T>): Promise<T> {
    if (this.health.away) throw unreachable()
    try {
      return await work().catch((error) => {
        if (isOutdated(error)) return work()
        throw error
      })
    } catch (error) {
      if (isDisconnected(error)) this.health.suspect()
      throw explain(error)
    }
  }

  /** A connection for the caller, who must release it. */
  connect(): Promise<pg.PoolClient> {
    return this.#attend(() => this.#current.connect())
  }

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
   * Uses one generic plan for all values, along indexes in their order: for statements over many partitions that always use the same
   * indexes. By default, PostgreSQL plans them at each execution, which takes longer than running them (3 ms of 4). A plain generic plan
   * is for an average repository: it reads and sorts all its rows, and a busy one has two hundred times as many (38 ms instead of 1).
   */
  async genericPlanRows<R extends Row>(statement: Sql) {
    return (await this.#attend(() => this.#steady.query<R>(named(statement)))).rows
  }

  /** Several of these statements over one connection, in one round trip. Each has an outcome of its own. */
  async genericPlanEach(statements: Sql[]): Promise<PromiseSettledResult<Row[]>[]> {
    const client = await this.#attend(() => this.#steady.connect())
    const read = async (statement: Sql) => (await client.query(named(statement))).rows
    const outcomes = await Promise.allSettled(statements.map((statement) => this.#attend(() => read(statement))))
    client.release(outcomes.some(({ status }) => status === 'rejected'))
    return outcomes
  }

  /** Plans at each execution: for statements whose best plan depends on their values. */
  async customPlanRows<R extends Row>(statement: Sql) {
    const { text, values } = statement
    return (await this.#attend(() => this.#current.query<R>({ text, values }))).rows
  }

  async first<R extends Row>(statement: Sql) {
    return (await this.query<R>(statement)).rows[0]
  }

  load<R extends Row>(statement: Sql) {
    return orMissing(this.first<R>(statement))
  }

  /**
   * Runs `work` in one transaction. A deadlock or a serialization failure runs it again, so it must have no effects outside the database.
   */
  transaction<T>(work: (db: Transaction) => Promise<T>): Promise<T> {
    return this.traced('transaction', {}, () => retried(() => this.#attempt(work)))
  }

  /** Runs one statement that writes and returns a row, as a transaction of its own: one round trip instead of two. */
  write<R extends Row>(statement: Sql): Promise<R> {
    return retried(async () => {
      if (this.health.away) throw unreachable()
      try {
        const { rows } = await this.#current.query<R>(named(statement))
        this.notifyTransactionEnd('committed here')
        return rows[0] as R
      } catch (error) {
        if (isDisconnected(error)) this.health.suspect()
        // A statement whose answer is lost may have succeeded.
        this.notifyTransactionEnd(isDisconnected(error) ? 'committed elsewhere' : 'rolled back')
        throw error
      }
    })
  }

  /** Runs `work` in a span of the current trace, if there is one. */
  traced<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
    return this.tracer ? this.tracer.inSpan(name, attributes, work) : work()
  }

  async #attempt<T>(work: (db: Transaction) => Promise<T>): Promise<T> {
    const client = await this.connect()
    const connection = new TransactionConnection(client)
    const transaction = new Transaction(connection, this.now, this)
    let broken: Error | undefined
    let committing = false
    try {
      await connection.open(transaction.traceparent)
      const result = await work(transaction)
      committing = true
      await connection.commit()
      this.notifyTransactionEnd('committed here', transaction.topics)
      return result
    } catch (error) {
      if (isDisconnected(error)) this.health.suspect()
      await connection.rollback().catch((failure: Error) => {
        broken = failure
      })
      // A commit whose answer is lost may have succeeded.
      if (committing) this.notifyTransactionEnd('committed elsewhere', transaction.topics)
      else this.notifyTransactionEnd('rolled back')
      throw error
    } finally {
      client.release(broken)
    }
  }

  async [Symbol.asyncDispose]() {
    await Promise.all([this.health.close(), ...[this.pool, this.background, this.#steady].map((pool) => pool.end())])
    // Libraries keep a reference to a pool for the life of the process, and caches that listen can be large.
    this.#listeners.clear()
    this.#forgetful.clear()
  }
}

/** All rows that a transaction writes have the same `now`. */
export class Transaction implements Queryable {
  readonly now: Date
  readonly #connection: TransactionConnection
  readonly home: Database
  readonly #topics: Map<string, unknown[]>

  constructor(connection: TransactionConnection, now: Date, home: Database, topics = new Map<string, unknown[]>()) {
    this.#connection = connection
    this.now = now
    this.home = home
    this.#topics = topics
  }

  /** The same transaction at another time, for acts of a story that are written together. */
  at(now: Date) {
    return new Transaction(this.#connection, now, this.home, this.#topics)
  }

  /** Rows and jobs of this transaction carry it, see migrations/0057_traces.sql. */
  get traceparent(): string | null {
    return this.home.tracer?.traceparent ?? null
  }

  get topics(): Topics {
    return this.#topics
  }

  /** Reports a topic that this transaction wrote. Listeners get the topic and `written` when it commits. */
  touch(topic: string, ...written: unknown[]) {
    this.#topics.set(topic, [...(this.#topics.get(topic) ?? []), ...written])
  }

  query<R extends Row>(statement: Sql) {
    return this.#connection.query<R>(named(statement))
  }

  async rows<R extends Row>(statement: Sql) {
    return (await this.query<R>(statement)).rows
  }

  genericPlanRows<R extends Row>(statement: Sql) {
    return this.rows<R>(statement)
  }

  async first<R extends Row>(statement: Sql) {
    return (await this.query<R>(statement)).rows[0]
  }

  load<R extends Row>(statement: Sql) {
    return orMissing(this.first<R>(statement))
  }
}

async function orMissing<R>(first: Promise<R | undefined>): Promise<R> {
  const row = await first
  if (!row) throw missing()
  return row
}

/** For `catch`: replaces the error of a row that already exists by a refusal. */
export const ifDuplicate = (refuse: () => Error) => (error: unknown) => {
  throw codeOf(error) === uniqueViolation ? refuse() : error
}

const uniqueViolation = '23505'
