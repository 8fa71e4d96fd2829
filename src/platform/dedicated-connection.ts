import type pg from 'pg'
import type { Database } from './database.ts'
import { explain } from './unavailable.ts'

/** How often an idle connection gets a query, in milliseconds, so that we notice when it is lost. */
const beat = 2000

/** A connection with one owner, for locks and LISTEN, which last as long as the connection. */
export interface DedicatedConnection {
  client: pg.PoolClient
  /** Queries of several callers run one after the other. */
  query<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<pg.QueryResult<R>>
  /** Resolves when the connection is lost, or closed because the database does not answer. */
  lost: Promise<void>
  end(): void
}

export async function openDedicatedConnection(db: Database): Promise<DedicatedConnection> {
  const client = await db.withBackgroundTimeouts(() => db.connect())
  const lost = Promise.withResolvers<void>()
  let last: Promise<unknown> = Promise.resolve()
  let ended = false
  const query = <R extends pg.QueryResultRow>(text: string, values?: unknown[]) => {
    const next = last.then(() => client.query<R>(text, values))
    last = next.catch(() => {})
    return next.catch((error) => {
      throw explain(error)
    })
  }
  const timer = setInterval(() => query('select').catch(() => {}), beat).unref()
  const end = () => {
    if (ended) return
    ended = true
    clearInterval(timer)
    client.off('end', onEnd)
    client.release(true)
  }
  const onEnd = () => {
    end()
    lost.resolve()
  }
  client.once('end', onEnd)
  return { client, query, lost: lost.promise, end }
}
