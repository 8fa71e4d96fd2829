import { hash } from 'node:crypto'
import type pg from 'pg'
import type { Sql } from 'sql-template-tag'

/**
 * Limit of prepared statements on one connection. Each takes 10 to 100 KB of the database's memory once it is planned, and some texts
 * depend on the request: the inbox filters alone have thousands of combinations. A busy server uses about 200.
 */
export const mostPrepared = 300

/** Cached names, so that a text is not hashed for each query. In entries; texts are a kilobyte on average. */
const mostNames = 2000
const names = new Map<string, string>()

/** Counts how often all statements got new names. */
let renewals = 0
let renewed_at = 0
/** Many statements fail at once, and their new names serve all of them. In milliseconds. */
const together = 1000

/** A named statement stays prepared on its connection. The name is a hash of its text. */
export function named(statement: Sql): pg.QueryConfig {
  const text = statement.text
  let name = names.get(text)
  if (!name) {
    name = hash('sha1', `${renewals} ${text}`)
    if (names.size >= mostNames) names.clear()
    names.set(text, name)
  }
  return { name, text, values: statement.values }
}

/**
 * Whether a prepared statement cannot be used any more, because a newer version of Belfry changed a table while this one runs. If so, statements
 * are prepared anew under other names, and the failed one can be repeated.
 */
export function isOutdated(error: unknown): boolean {
  if (!(error instanceof Error) || error.message !== 'cached plan must not change result type') return false
  const now = performance.now()
  if (renewals === 0 || now - renewed_at > together) {
    renewals++
    renewed_at = now
    names.clear()
  }
  return true
}

/** The driver's prepared statements, texts by name. Its types do not include them. */
interface Preparing {
  connection: { parsedStatements: Record<string, string> }
}

/** Deallocates the prepared statements of a connection that has too many, before its next use. */
export function boundPrepared(pool: pg.Pool) {
  pool.on('acquire', (client) => {
    const { connection } = client as unknown as Preparing
    const former = connection.parsedStatements
    if (Object.keys(former).length < mostPrepared) return
    // At once, because the next query may depend on one of them, see begin.ts. It is sent after the callback.
    connection.parsedStatements = {}
    client.query('deallocate all', (error: Error | null) => {
      if (error) connection.parsedStatements = former
    })
  })
}
