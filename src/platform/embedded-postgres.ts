import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import { identityOf } from './data-folder.ts'
import { codeOf } from './database.ts'
import { StartError } from './errors.ts'
import { asAccount, findPlace, makeOwned, type PostgresPlace } from './postgres-place.ts'

const role = 'belfry'

export interface EmbeddedPostgres {
  connection: pg.ClientConfig
  place: PostgresPlace
  /** Resolves when the server ends without being asked to. */
  died: Promise<void>
  /** Ends open sessions, writes everything down, and stops. */
  stop(): Promise<void>
  /** Ends at once; the next start recovers from the write-ahead log. */
  kill(): void
}

/** Starts a PostgreSQL of our own: a child process on a unix socket, with no port that anyone else could reach. */
export async function startEmbeddedPostgres(
  data: string,
  log: Logger,
  settings: Record<string, string> = {},
): Promise<EmbeddedPostgres> {
  const place = findPlace(data)
  makeCluster(place)
  checkVersion(place)
  writeAccessRules(place)
  await stopOrphan(place, log)
  const server = spawnServer(place, settings, log)
  const connection = { host: place.socket, user: role, database: role }
  let stopping = false
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()))
  const died = exited.then(() => (stopping ? new Promise<void>(() => {}) : undefined))
  // Should our own process end in a way we did not foresee, the child must not outlive it.
  const endWithUs = () => server.kill('SIGINT')
  process.once('exit', endWithUs)
  await waitUntilReady(server, connection)
  return {
    connection,
    place,
    died,
    async stop() {
      stopping = true
      server.kill('SIGINT')
      await exited
      process.off('exit', endWithUs)
    },
    kill() {
      stopping = true
      server.kill('SIGQUIT')
    },
  }
}

/** Made under another name first: a start that is cut off leaves no half a database behind. */
function makeCluster({ account, binaries, cluster }: PostgresPlace) {
  if (existsSync(join(cluster, 'PG_VERSION'))) return
  const draft = `${cluster}.new`
  rmSync(draft, { recursive: true, force: true })
  makeOwned(draft, account)
  const options = [
    '--username',
    role,
    '--encoding',
    'UTF8',
    '--locale-provider',
    'builtin',
    '--locale',
    'C.UTF-8',
    '--data-checksums',
  ]
  const made = spawnSync(
    join(binaries, 'bin', 'initdb'),
    ['--pgdata', draft, '--auth', 'peer', '--no-instructions', ...options],
    {
      ...asAccount(account),
      env: { LC_ALL: 'C', PATH: process.env.PATH },
      encoding: 'utf8',
    },
  )
  if (made.status !== 0) {
    const why = (made.stderr || made.error?.message || '').trim().split('\n').at(-1)
    throw new StartError(
      `The embedded PostgreSQL could not make its database in ${cluster}: ${why}. Setting DATABASE_URL avoids it.`,
    )
  }
  rmSync(cluster, { recursive: true, force: true })
  renameSync(draft, cluster)
}

function checkVersion({ binaries, cluster }: PostgresPlace) {
  const made = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
  const printed = spawnSync(join(binaries, 'bin', 'postgres'), ['--version'], { encoding: 'utf8' })
  const ours = /(\d+)/.exec(printed.stdout ?? '')?.[1]
  if (!ours) throw new StartError(`The embedded PostgreSQL does not run here: ${printed.stderr || printed.error?.message}`)
  if (made !== ours) {
    throw new StartError(
      `The database in ${cluster} was made by PostgreSQL ${made}, and this Belfry brings ${ours}. Dump and restore it.`,
    )
  }
}

/** Only the account that runs Belfry gets in, vouched for by the kernel: there is no password to lose. */
function writeAccessRules({ folder }: PostgresPlace) {
  // Beside the cluster, not in it: what another account owns is no place for a file that root writes.
  writeFileSync(join(folder, 'pg_hba.conf'), `local all ${role} peer map=owner\n`, { mode: 0o644 })
  writeFileSync(join(folder, 'pg_ident.conf'), `owner ${userInfo().username} ${role}\n`, { mode: 0o644 })
}

/** A Belfry that was killed leaves its PostgreSQL running, or a pid file that names nobody, or by now somebody else. */
async function stopOrphan({ cluster }: PostgresPlace, log: Logger) {
  const file = join(cluster, 'postmaster.pid')
  if (!existsSync(file)) return
  const pid = parseInt(readFileSync(file, 'utf8'), 10)
  if (!isOurServer(pid, cluster)) {
    rmSync(file, { force: true })
    return
  }
  log.warn({ pid }, 'stopping the PostgreSQL that an earlier run left behind')
  process.kill(pid, 'SIGINT')
  for (let waited = 0; identityOf(pid) && waited < 30_000; waited += 50) await sleep(50)
  if (identityOf(pid))
    throw new StartError(`PostgreSQL of an earlier run (process ${pid}) does not stop: end it, then start again.`)
}

function isOurServer(pid: number, cluster: string) {
  if (!(pid > 0) || !identityOf(pid)) return false
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(cluster)
  } catch {
    return process.platform !== 'linux'
  }
}

function spawnServer(
  { account, binaries, folder, cluster, socket }: PostgresPlace,
  settings: Record<string, string>,
  log: Logger,
) {
  const all = {
    listen_addresses: '',
    unix_socket_directories: socket,
    unix_socket_permissions: '0700',
    hba_file: join(folder, 'pg_hba.conf'),
    ident_file: join(folder, 'pg_ident.conf'),
    fsync: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '',
    jit: 'off',
    ...settings,
  }
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = spawn(join(binaries, 'bin', 'postgres'), ['-D', cluster, ...options], {
    ...asAccount(account),
    env: { LC_ALL: 'C', PATH: process.env.PATH },
    // A process group of its own: Ctrl-C in a terminal must reach us alone, so that requests finish before the database stops.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n')) if (line) log.debug({ postgres: line }, 'postgres')
  })
  return server
}

/** Waits as long as the process lives: after a crash, recovery may take its time. */
async function waitUntilReady(server: ChildProcess, connection: pg.ClientConfig) {
  let last = ''
  server.stderr?.on('data', (text: string) => {
    last = text.trim().split('\n').at(-1) ?? last
  })
  for (;;) {
    if (server.exitCode !== null || server.signalCode !== null) {
      throw new StartError(`The embedded PostgreSQL ended while starting: ${last}`)
    }
    const client = new pg.Client({ ...connection, database: 'postgres' })
    try {
      await client.connect()
      const { rowCount } = await client.query('select from pg_database where datname = $1', [role])
      if (!rowCount) await client.query(`create database ${role}`)
      return
    } catch (error) {
      // 57P03: the server is there, and still starting or recovering.
      if (!['ENOENT', 'ECONNREFUSED', '57P03'].includes(codeOf(error) ?? '')) throw error
      await sleep(20)
    } finally {
      await client.end().catch(() => {})
    }
  }
}
