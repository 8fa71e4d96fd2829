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

/** A named statement stays prepared on its connection. The name is a hash of its text. */
export function named(statement: Sql): pg.QueryConfig {
  const text = statement.text
  let name = names.get(text)
  if (!name) {
    name = hash('sha1', text)
    if (names.size >= mostNames) names.clear()
    names.set(text, name)
  }
  return { name, text, values: statement.values }
}

/** The driver's prepared statements, texts by name. Its types do not include them. */
interface Preparing {
  connection: { parsedStatements: Record<string, string> }
}

/** Deallocates the prepared statements of a connection that has too many, before its next use. */
export function boundPrepared(pool: pg.Pool) {
  pool.on('acquire', (client) => {
    const { connection } = client as unknown as Preparing
    if (Object.keys(connection.parsedStatements).length < mostPrepared) return
    // The driver calls back before it sends the next query, which may prepare one of them again.
    client.query('deallocate all', (error: Error | null) => {
      if (!error) connection.parsedStatements = {}
    })
  })
}
