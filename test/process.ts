import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { pino } from 'pino'
import { readSettings } from '#config.ts'
import { systemClock } from '#platform/clock.ts'
import { StartError } from '#platform/errors.ts'
import { randomText } from '#platform/secrets.ts'
import { start } from '#start.ts'
import { copyDatabase } from '#test/databases.ts'
import { freePort, kill, processesIn, until } from '#test/machine.ts'
import { builtBelfry, once } from '#test/packed.ts'

const exec = promisify(execFile)

/** Made before the tests, whose limits it would take. */
const built = await builtBelfry()

export interface StartOptions {
  /** Settings, besides a data folder and ports of its own. */
  settings?: Record<string, string>
  options?: string[]
  /** Another copy of `bin/belfry` than the one that is built for tests. */
  program?: string
  /** What runs before it in the shell, such as a umask. */
  before?: string
  /** Who runs it, when that is not us. */
  account?: { uid: number; gid: number }
  /** What is printed when it is ready. */
  ready?: RegExp
}

/** A folder in which Belfrys are started as real processes, and after which nothing of them is left. */
export class Host implements AsyncDisposable {
  readonly folder: string
  data: string
  /** The admin's, on a host that was used before. */
  token = ''
  readonly #started: BelfryProcess[] = []

  static async open() {
    const folder = await mkdtemp(join(tmpdir(), 'belfry-host-'))
    await chmod(folder, 0o711)
    return new Host(folder)
  }

  /** With a database that is there already, which spares the time of making one. */
  static async openUsed() {
    const host = await Host.open()
    await exec('cp', ['-a', await usedData(), host.data])
    host.token = readFileSync(join(host.data, 'token'), 'utf8')
    return host
  }

  constructor(folder: string) {
    this.folder = folder
    this.data = join(folder, 'data')
  }

  get cluster() {
    const pointer = join(this.data, 'database-location')
    return join(existsSync(pointer) ? readFileSync(pointer, 'utf8').trim() : this.data, 'postgres')
  }

  get postmaster() {
    return parseInt(readFileSync(join(this.cluster, 'postmaster.pid'), 'utf8'), 10)
  }

  /** Starts a Belfry and waits until it is ready. */
  async start(options: StartOptions = {}) {
    const belfry = await this.launch(options)
    const ready = options.ready ?? /^Belfry is ready: (\S+)$/m
    await until(`Belfry is ready: ${belfry.stderr}`, () => {
      if (belfry.end) throw new Error(`Belfry ended (${belfry.end}) instead of starting: ${belfry.stderr}`)
      return ready.test(belfry.stdout)
    })
    return belfry
  }

  /** Starts a Belfry without waiting for anything. */
  async launch({ settings = {}, options = [], program: path, before = '', account }: StartOptions = {}) {
    const { program, cache }: typeof built = path ? { program: path } : built
    const environment = {
      BELFRY_DATA: this.data,
      BELFRY_PORT: '0',
      BELFRY_VERSIONED_PORT: `${await freePort()}`,
      ...(cache && { NODE_COMPILE_CACHE: cache }),
      ...settings,
    }
    const belfry = new BelfryProcess(
      spawn('sh', ['-c', `${before}\nexec sh "$@"`, 'sh', program, ...options], {
        cwd: this.folder,
        // What a process that is killed leaves is removed with the host. Another account cannot write there.
        env: { ...inherited(), ...(!account && { TMPDIR: this.folder }), ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
        ...account,
      }),
      environment.BELFRY_VERSIONED_PORT,
    )
    this.#started.push(belfry)
    return belfry
  }

  /** Runs a Belfry that is expected to end by itself. */
  async run(options: StartOptions = {}) {
    const belfry = await this.launch(options)
    await belfry.ended()
    return belfry
  }

  /** The line that Belfry prints when these settings keep it from starting. It runs in this process, which spares loading the program. */
  async refusal(settings: Record<string, string>) {
    const environment = { BELFRY_DATA: this.data, BELFRY_PORT: '0', BELFRY_VERSIONED_PORT: '0', ...settings }
    try {
      const running = await start(readSettings(environment), systemClock, pino({ level: 'silent' }), new AbortController().signal)
      await running.stop()
    } catch (error) {
      if (error instanceof StartError && !error.message.includes('\n')) return error.message
      throw error
    }
    throw new Error(`Belfry starts with ${JSON.stringify(settings)}`)
  }

  /** A session with the embedded database, as Belfry itself has. */
  async query(text: string, socket = join(dirname(this.cluster), 'socket')) {
    const client = new pg.Client({ host: socket, user: 'belfry', database: 'belfry' })
    await client.connect()
    try {
      return (await client.query(text)).rows
    } finally {
      await client.end()
    }
  }

  async [Symbol.asyncDispose]() {
    for (const belfry of this.#started) belfry.kill('SIGKILL')
    await Promise.all(this.#started.map((belfry) => belfry.ended()))
    const elsewhere = dirname(this.cluster)
    for (const folder of new Set([this.folder, elsewhere])) {
      for (const pid of processesIn(folder)) kill(pid, 'SIGKILL')
      await until('the database is gone', () => processesIn(folder).length === 0)
      await rm(folder, { recursive: true, force: true })
    }
  }
}

/** Made once in a test run. */
const usedData = () =>
  once(join(tmpdir(), 'used-host'), 'data', async (draft) => {
    await using host = await Host.open()
    const belfry = await host.start()
    await belfry.stop()
    await writeFile(join(host.data, 'token'), belfry.admin.token)
    await exec('cp', ['-a', host.data, draft])
  })

export class BelfryProcess {
  readonly pid: number
  stdout = ''
  stderr = ''
  /** Its exit code or the signal that ended it. */
  end: string | undefined
  readonly #closed: Promise<unknown>
  readonly #versioned: string

  constructor(child: ChildProcess, versioned: string) {
    this.#versioned = versioned
    this.pid = child.pid ?? 0
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    // Its end is told once its last words are read.
    this.#closed = new Promise<void>((resolve) => {
      child.once('close', (code, signal) => {
        this.end = `${code ?? signal}`
        resolve()
      })
    })
  }

  get web() {
    return /^Belfry is ready: (\S+)$/m.exec(this.stdout)?.[1] ?? ''
  }

  get versioned() {
    return `http://127.0.0.1:${this.#versioned}`
  }

  /** Where the web listener is, whatever its public address. */
  get listening() {
    return new URL(/Server listening at (http:[^"]+)/.exec(this.stderr)?.[1] ?? '')
  }

  /** What the first start tells of the admin. */
  get admin() {
    const shown = (label: string) => new RegExp(`^  ${label} +(\\S+)$`, 'm').exec(this.stdout)?.[1] ?? ''
    return { login: shown('Login'), password: shown('Password'), token: shown('Token') }
  }

  /** What it logged, each line an object. */
  get logged(): Record<string, unknown>[] {
    return this.stderr
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  }

  kill(signal: NodeJS.Signals) {
    if (this.end === undefined) kill(this.pid, signal)
  }

  async ended() {
    await Promise.race([this.#closed, sleep(60_000, undefined, { ref: false })])
    if (this.end === undefined) throw new Error(`Belfry does not end: ${this.stderr}`)
    return this.end
  }

  /** Asks for an orderly end, and gives the exit code. */
  async stop() {
    this.kill('SIGTERM')
    return this.ended()
  }

  get(path: string, token?: string) {
    return fetch(`${this.web}${path}`, { headers: token ? { authorization: `Bearer ${token}` } : {} })
  }

  post(path: string, token: string, body: object) {
    return fetch(`${this.web}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    })
  }
}

/** A database on the server of this test run, as `DATABASE_URL` names it: migrated, or with nothing in it. */
export async function openDatabase({ empty = false } = {}) {
  const { connection, drop } = await copyDatabase()
  const connect = async () => {
    const client = new pg.Client(connection)
    await client.connect()
    return client
  }
  const query = async (text: string) => {
    const client = await connect()
    try {
      return (await client.query(text)).rows
    } finally {
      await client.end()
    }
  }
  if (empty) await query('drop schema public cascade; drop schema graphile_worker cascade; create schema public')
  const url = `postgres://${connection.user}@${encodeURIComponent(`${connection.host}`)}/${connection.database}`
  return { url, connect, query, [Symbol.asyncDispose]: drop }
}

export function newToken() {
  return `bfp_${randomText(36)}`
}

/** Nothing of the settings of whoever runs the tests. */
function inherited() {
  const { PATH = '', NODE_V8_COVERAGE } = process.env
  return { PATH, ...(NODE_V8_COVERAGE && { NODE_V8_COVERAGE }) }
}
