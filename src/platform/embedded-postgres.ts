import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import { codeOf } from './database.ts'
import { syncFolderNow } from './durable.ts'
import { StartError } from './errors.ts'
import { watchExit } from './exit-watch.ts'
import { asAccount, findLocation, makeOwned, type PostgresAccount, type PostgresLocation } from './postgres-location.ts'
import { identityOf, worksIn } from './processes.ts'

const role = 'belfry'

/** How long the processes of an earlier run may take to end, in milliseconds. */
const patience = 30_000

export interface EmbeddedPostgres {
  connection: pg.ClientConfig
  location: PostgresLocation
  /** Resolves when the server ends by itself. */
  died: Promise<void>
  /** Ends open sessions, writes all data to disk, and stops. */
  stop(): Promise<void>
  /** Ends at once. The next start recovers from the write-ahead log. */
  kill(): void
}

/** Starts a PostgreSQL as a child process, on a unix socket only. */
export async function startEmbeddedPostgres(
  data: string,
  log: Logger,
  settings: Record<string, string> = {},
  asked?: AbortSignal,
): Promise<EmbeddedPostgres> {
  const location = findLocation(data)
  await makeCluster(location)
  checkVersion(location)
  writeAccessRules(location)
  const stale_pid = await stopOrphan(location, log)
  const connection = connectionTo(location)
  const deadline = performance.now() + patience
  for (;;) {
    asked?.throwIfAborted()
    const server = new Server(location, settings, stale_pid, log)
    try {
      await waitUntilReady(server, connection, asked)
      const stop = async () => {
        await server.stop()
        leaveSocketFolder(location)
      }
      return { connection, location, died: server.died, stop, kill: () => server.kill() }
    } catch (error) {
      await server.stop()
      // Sessions of a killed server end within moments. Until then PostgreSQL refuses to start on their files.
      if (!/pre-existing shared memory block/.test(server.complaint) || performance.now() > deadline) throw error
      await sleep(100)
    }
  }
}

/** How to reach the database of a Belfry that runs on this data folder. Peer authentication admits the account that runs it, and no other. */
export const connectionTo = ({ socket }: PostgresLocation): pg.ClientConfig => ({ host: socket, user: role, database: role })

/** Creates the cluster under another name first, so that an interrupted start leaves no partial cluster. */
async function makeCluster({ account, binaries, cluster }: PostgresLocation) {
  if (existsSync(join(cluster, 'PG_VERSION'))) return
  checkNothingThere(cluster)
  const draft = `${cluster}.new`
  rmSync(draft, { recursive: true, force: true })
  makeOwned(draft, account)
  const options = ['--username', role, '--auth', 'peer', '--no-instructions', '--data-checksums', '--encoding', 'UTF8']
  const locale = ['--locale-provider', 'builtin', '--locale', 'C.UTF-8']
  const initdb = spawnOurs(join(binaries, 'bin', 'initdb'), ['--pgdata', draft, ...options, ...locale], account)
  let last = ''
  createInterface({ input: initdb.stderr }).on('line', (line) => {
    last = line || last
  })
  initdb.once('error', ({ message }) => {
    last = message
  })
  const status = await new Promise((resolve) => initdb.once('close', resolve))
  if (status !== 0) {
    throw new StartError(
      `The embedded PostgreSQL could not make its database in ${cluster}: ${last}. Setting DATABASE_URL avoids it.`,
    )
  }
  // initdb syncs the files that it writes, but not this rename.
  renameSync(draft, cluster)
  syncFolderNow(dirname(cluster))
}

function checkNothingThere(cluster: string) {
  try {
    rmdirSync(cluster)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return
    throw new StartError(`${cluster} is there already and holds no database: move it away, or set BELFRY_DATA to another folder.`)
  }
}

function checkVersion({ binaries, cluster }: PostgresLocation) {
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

/** The kernel authenticates the account that runs Belfry, so there is no password. */
function writeAccessRules({ folder }: PostgresLocation) {
  // Beside the cluster, because root must not write into a folder that another account owns.
  const rules = { 'pg_hba.conf': `local all ${role} peer map=owner\n`, 'pg_ident.conf': `owner ${userInfo().username} ${role}\n` }
  for (const [name, text] of Object.entries(rules)) {
    writeFileSync(join(folder, name), text)
    chmodSync(join(folder, name), 0o644)
  }
}

/**
 * A killed Belfry leaves its PostgreSQL running, or a pid file whose process has ended or is another program. Returns the id in that file.
 * The file stays, because PostgreSQL uses it to find out whether its shared memory is in use.
 */
async function stopOrphan({ cluster }: PostgresLocation, log: Logger) {
  const file = join(cluster, 'postmaster.pid')
  if (!existsSync(file)) return undefined
  const pid = parseInt(readFileSync(file, 'utf8'), 10)
  if (!worksIn(pid, cluster)) return pid
  log.warn({ pid }, 'stopping the PostgreSQL that an earlier run left behind')
  process.kill(pid, 'SIGINT')
  for (let waited = 0; identityOf(pid) && waited < patience; waited += 50) await sleep(50)
  if (identityOf(pid))
    throw new StartError(`PostgreSQL of an earlier run (process ${pid}) does not stop: end it, then start again.`)
  return pid
}

/** Removes a socket folder in the system's folder for temporary files. */
function leaveSocketFolder({ folder, socket }: PostgresLocation) {
  if (dirname(socket) !== folder) rmSync(socket, { recursive: true, force: true })
}

/** The child ends when this process does, also after SIGKILL. */
function spawnOurs(command: string, args: string[], account: PostgresAccount | undefined, environment = {}) {
  const child = spawn(command, args, {
    ...asAccount(account),
    env: { LC_ALL: 'C', PATH: process.env.PATH, ...environment },
    // In its own process group, because Ctrl-C in a terminal must reach only us: requests finish before the database stops.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (child.pid) child.once('exit', watchExit('kill -INT "$1"', [`${child.pid}`], account))
  return child
}

class Server {
  /** The error that ended the server, or its last log line. */
  complaint = ''
  ended = false
  readonly died: Promise<void>
  readonly #child: ChildProcess
  readonly #end: Promise<void>
  #stopping = false

  constructor(location: PostgresLocation, settings: Record<string, string>, stale_pid: number | undefined, log: Logger) {
    const { account, binaries, cluster } = location
    // PostgreSQL refuses to start if its lock file names a running process, unless that process is its grandparent, as under pg_ctl. We
    // checked that the process in the stale file is another program, and report it as the grandparent.
    const environment = stale_pid ? { PG_GRANDPARENT_PID: `${stale_pid}` } : {}
    const options = ['-D', cluster, ...optionsFor(location, settings)]
    const child = spawnOurs(join(binaries, 'bin', 'postgres'), options, account, environment)
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.debug({ postgres: line }, 'postgres')
      if (fatal.test(line) || !fatal.test(this.complaint)) this.complaint = line
    })
    child.once('error', ({ message }) => {
      this.complaint = message
    })
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
    this.#child = child
    // The last lines arrive after the exit, unless a session that outlives the server keeps the pipe open.
    this.#end = Promise.race([closed, exited.then(() => sleep(1000, undefined, { ref: false }))]).then(() => {
      this.ended = true
    })
    this.died = exited.then(() => (this.#stopping ? new Promise<void>(() => {}) : undefined))
  }

  async stop() {
    this.#stopping = true
    this.#child.kill('SIGINT')
    await this.#end
  }

  kill() {
    this.#stopping = true
    this.#child.kill('SIGQUIT')
  }
}

const fatal = /^(FATAL|PANIC):/

function optionsFor({ folder, socket }: PostgresLocation, settings: Record<string, string>) {
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
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** Waits as long as the process runs, because recovery after a crash can take long. */
async function waitUntilReady(server: Server, connection: pg.ClientConfig, asked: AbortSignal | undefined) {
  for (;;) {
    asked?.throwIfAborted()
    if (server.ended) throw new StartError(`The embedded PostgreSQL ended while starting: ${server.complaint}`)
    const client = new pg.Client({ ...connection, database: 'postgres' })
    // The server may end during the query. The query fails then; without a listener, the event would end our process.
    client.on('error', () => {})
    try {
      await client.connect()
      const { rowCount } = await client.query('select from pg_database where datname = $1', [role])
      if (!rowCount) await client.query(`create database ${role}`)
      return
    } catch (error) {
      // 57P03: the server is starting or recovering. Without a code: it ended during the query.
      if (!['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P03'].includes(codeOf(error) ?? 'EPIPE')) {
        throw new StartError(`The embedded PostgreSQL cannot be used: ${error instanceof Error ? error.message : error}`)
      }
      await sleep(20)
    } finally {
      await client.end().catch(() => {})
    }
  }
}
