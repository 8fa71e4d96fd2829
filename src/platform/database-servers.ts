import pg from 'pg'
import { StartError } from './errors.ts'
import { codeOf } from './unavailable.ts'

/** In milliseconds. */
const patience = 10_000

/** `postgres://user:password@one:5432,two:5433/name`: of several servers, one is the primary, and the others are its standbys. */
const parts = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s

/** The connections to the servers that a database address names, in its order. */
export function connectionsTo(url: string): pg.ClientConfig[] {
  const [, account = '', hosts = '', rest = ''] = parts.exec(url) ?? []
  return hosts.split(',').map((host) => ({ connectionString: `${account}${host}${rest}` }))
}

/** The server that accepts writes, and the others after it. Fails if none does, with the reason of the first. */
export async function primaryFirst(connections: pg.ClientConfig[]): Promise<[pg.ClientConfig, ...pg.ClientConfig[]]> {
  const failures = await Promise.all(connections.map(findFailure))
  const primary = connections[failures.indexOf(undefined)]
  if (!primary) throw new StartError(`Cannot connect to the PostgreSQL server in DATABASE_URL: ${failures[0]}.`)
  return [primary, ...connections.filter((one) => one !== primary)]
}

async function findFailure(connection: pg.ClientConfig): Promise<string | undefined> {
  try {
    const client = new pg.Client({ ...connection, connectionTimeoutMillis: patience })
    client.on('error', () => {})
    await client.connect()
    const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
    await client.end()
    return rows[0]?.standby ? 'it is a standby, which accepts no writes' : undefined
  } catch (error) {
    // If a host name has several addresses, the message is empty.
    return (error instanceof Error && error.message) || codeOf(error) || 'no reason given'
  }
}
