import pg from 'pg'
import type { DatabaseHealth } from './database-health.ts'
import { within } from './deadline.ts'
import { boundPrepared } from './prepared.ts'

/** Ids stay far below 2^53, so bigint columns are numbers; the driver's default is strings. */
const int8 = 20
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === int8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
}

/** Bounds every wait for the database, in milliseconds. */
export interface Patience {
  /** For a free or new connection. */
  connect: number
  lock: number
  statement: number
  /** For the next statement of a transaction. The server ends a transaction whose client is silent for longer, because its locks block others. */
  pause: number
}

/** For requests: connecting and one statement together stay below ten seconds. */
export const brief: Patience = { connect: 4000, lock: 3000, statement: 5500, pause: 10_000 }
/** For background work, which may read and write much, and for which no client waits. */
export const long: Patience = { connect: 5000, lock: 60_000, statement: 600_000, pause: 10_000 }
/** Normally the server enforces its time-outs. If it does not report one within this extra time, the connection is closed. In milliseconds. */
const grace = 500

/**
 * The server notices within about ten seconds that this node is gone, and releases its locks. The default is two hours. In seconds; the
 * last one in milliseconds.
 */
const reachability = { tcp_keepalives_idle: 5, tcp_keepalives_interval: 2, tcp_keepalives_count: 3, tcp_user_timeout: 10_000 }
const oneTimePlans = ['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin'].map((way) => [`enable_${way}`, 'off'])

/**
 * PostgreSQL compiles statements whose estimated cost is high, and those of genericPlanRows count what is turned off as 10^10. Compiling the
 * statement of a timeline takes seconds, running it one millisecond. The embedded PostgreSQL is configured like this, others are not.
 */
const compilation = { jit: 'off' }

/** A client as far as the driver's types leave it out. */
interface Connected {
  connection: { stream: { destroy(): void } }
}

export type SessionSettings = Record<string, string | number>
/** For Database.genericPlanRows. */
export const steady: SessionSettings = { plan_cache_mode: 'force_generic_plan', ...Object.fromEntries(oneTimePlans) }

/**
 * The driver sends a statement without waiting for the answers to earlier ones. Not for transactions: a statement behind a `begin` that
 * fails would run alone. Its types leave the setting out.
 */
export const pipelined: pg.PoolConfig = Object.assign({}, { pipeline: true })

export function openPool(
  connection: pg.PoolConfig,
  { connect, lock, statement, pause }: Patience,
  health: DatabaseHealth,
  settings: SessionSettings = {},
) {
  const limits = { lock_timeout: lock, statement_timeout: statement, idle_in_transaction_session_timeout: pause }
  const begin = beginSession({ ...reachability, ...compilation, ...limits, ...settings })
  const pool = new pg.Pool({
    application_name: 'belfry',
    ...connection,
    types,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5000,
    connectionTimeoutMillis: connect,
    onConnect: async (client) => {
      try {
        const { rows } = await within(connect, client.query<{ started: string }>(begin))
        health.identify(rows[0]?.started)
      } catch (error) {
        // The pool ends the connection, which waits for the answer if statements are pipelined.
        ;(client as unknown as Connected).connection.stream.destroy()
        throw error
      }
    },
  })
  health.watch(pool, statement + grace)
  boundPrepared(pool)
  return pool
}

/** A statement, because PgBouncer refuses connections that bring settings. */
function beginSession(settings: SessionSettings) {
  const set = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', false)`)
  return `select extract(epoch from pg_postmaster_start_time())::text as started, ${set.join(', ')}`
}
