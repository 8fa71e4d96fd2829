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

interface Found {
  server: pg.ClientConfig
  /** Undefined for one that accepts no writes. */
  timeline?: number | undefined
  failure?: string
}

/** The server that accepts writes, and the others after it. Fails if none does, with the reason of the first. */
export async function primaryFirst(servers: pg.ClientConfig[]): Promise<[pg.ClientConfig, ...pg.ClientConfig[]]> {
  const found = await Promise.all(servers.map(examine))
  const primary = newestOf(found)
  if (!primary) throw new StartError(`Cannot connect to the PostgreSQL server in DATABASE_URL: ${found[0]?.failure}.`)
  await checkPooling(primary)
  return [primary, ...servers.filter((one) => one !== primary)]
}

/** Of the servers that accept writes, the one that was promoted last; of equals, the first. */
export function newestOf(found: Pick<Found, 'server' | 'timeline'>[]): pg.ClientConfig | undefined {
  const timelines = found.map(({ timeline = -Infinity }) => timeline)
  const newest = Math.max(...timelines)
  return newest === -Infinity ? undefined : found[timelines.indexOf(newest)]?.server
}

/**
 * A promotion begins a new timeline. A former primary that could not be stopped may still accept writes, but no standby follows it. Some
 * services have no timelines; 0 stands for theirs.
 */
export async function readTimeline(client: pg.ClientBase): Promise<number> {
  const text = 'select left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline'
  const { rows } = await client.query<{ timeline: string }>(text).catch(() => ({ rows: [] }))
  return Number.parseInt(rows[0]?.timeline ?? '0', 16)
}

async function examine(server: pg.ClientConfig): Promise<Found> {
  try {
    await using connection = await connect(server)
    const { rows } = await connection.client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
    if (rows[0]?.standby) return { server, failure: 'it is a standby, which accepts no writes' }
    return { server, timeline: await readTimeline(connection.client) }
  } catch (error) {
    // If a host name has several addresses, the message is empty.
    return { server, failure: (error instanceof Error && error.message) || codeOf(error) || 'no reason given' }
  }
}

/**
 * Refuses a pooler that gives a session to others after each transaction: prepared statements, locks and LISTEN would be lost. A pooler
 * gives out first what was returned last, so a second connection gets the session of the first one.
 */
async function checkPooling(server: pg.ClientConfig) {
  await using one = await connect(server)
  await using other = await connect(server)
  const sessionOf = async ({ client }: typeof one) =>
    (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid
  const first = await sessionOf(one)
  await other.client.query('begin')
  const shared = first === (await sessionOf(other)) || first !== (await sessionOf(one))
  if (shared) {
    throw new StartError(
      'The server in DATABASE_URL is a connection pooler that shares sessions. Set its pooling mode to session (PgBouncer: pool_mode = session).',
    )
  }
}

async function connect(server: pg.ClientConfig) {
  const client = new pg.Client({ ...server, connectionTimeoutMillis: patience, query_timeout: patience })
  client.on('error', () => {})
  await client.connect()
  return { client, [Symbol.asyncDispose]: () => client.end() }
}
