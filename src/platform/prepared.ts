import { hash } from 'node:crypto'
import type pg from 'pg'
import type { Sql } from 'sql-template-tag'

/**
 * Prepared statements of one connection. Each takes 10 to 100 KB of the database's memory once it is planned, and a few texts depend on
 * what is asked for: the filters of the inbox alone can be combined in thousands of ways. A server at work uses about 200.
 */
export const mostPrepared = 300

/** Names of the texts in use, so that a text is not hashed for each query. In entries; texts are a kilobyte on average. */
const mostNames = 2000
const names = new Map<string, string>()

/** A statement that is named stays prepared on its connection; its name follows from its text. */
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

/** The driver's list of prepared statements, texts by name; its types do not show it. */
interface Preparing {
  connection: { parsedStatements: Record<string, string> }
}

/** Drops all prepared statements of a connection that has too many, before its next use. */
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
