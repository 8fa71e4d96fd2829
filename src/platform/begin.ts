import pg from 'pg'

/** Prepared by the driver, which remembers it by its name. */
const begin = { name: 'begin', text: 'begin' }

/** The driver's connection as far as it is used here. Its types leave it out. */
interface Wire {
  stream: { cork(): void; uncork(): void }
  parsedStatements: Record<string, string>
  bind(what: { portal: string; statement: string; values: unknown[] }): void
  execute(what: { portal: string; rows: number }): void
}
interface DriverQuery {
  submit(connection: Wire): Error | null
  handleCommandComplete(message: unknown, connection: Wire): void
}
type Callback = (error: Error | null, result: pg.QueryResult) => void
const Query = pg.Query as unknown as new (config: pg.QueryConfig, values: undefined, callback: Callback) => DriverQuery

/**
 * `begin` and a statement in one message to the server, with one answer. If `begin` fails, the server skips the statement, so it never runs
 * outside the transaction: two queries that the driver sends one behind the other would not have this guarantee.
 */
class BeginningQuery extends Query {
  #begun = false

  override submit(connection: Wire) {
    connection.stream.cork()
    try {
      connection.bind({ portal: '', statement: begin.name, values: [] })
      connection.execute({ portal: '', rows: 0 })
      return super.submit(connection)
    } finally {
      connection.stream.uncork()
    }
  }

  override handleCommandComplete(message: unknown, connection: Wire) {
    if (this.#begun) super.handleCommandComplete(message, connection)
    this.#begun = true
  }
}

/** A connection for one transaction. It begins with the first statement, in the same round trip. */
export class TransactionConnection {
  readonly #client: pg.PoolClient
  #begun = false

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  /** The first transaction of a connection prepares `begin`, which takes a round trip. So does a transaction that is traced. */
  async open(traceparent: string | null) {
    const { connection } = this.#client as unknown as { connection: Wire }
    if (traceparent) await this.#client.query(`begin; set local belfry.traceparent = '${traceparent}'`)
    else if (connection.parsedStatements[begin.name]) return
    else await this.#client.query(begin)
    this.#begun = true
  }

  query<R extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<R>> {
    if (this.#begun) return this.#client.query<R>(statement)
    this.#begun = true
    return new Promise<pg.QueryResult<R>>((resolve, reject) => {
      const first = new BeginningQuery(statement, undefined, (error, result) => (error ? reject(error) : resolve(result)))
      this.#client.query(first as unknown as pg.Submittable)
    }).catch((error: Error) => {
      // As the driver does: the stack of the caller, not that of the socket.
      Error.captureStackTrace(error)
      throw error
    })
  }

  async commit() {
    if (!this.#begun) return
    const { command } = await this.#client.query('commit')
    // PostgreSQL answers a commit with a rollback, and no error, when a statement failed before and its error was caught.
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back: a statement in it had failed')
  }

  async rollback() {
    if (this.#begun) await this.#client.query('rollback')
  }
}
