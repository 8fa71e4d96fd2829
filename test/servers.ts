import { mkdtemp, readdir, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { pino } from 'pino'
import { type App, openApp } from '#app.ts'
import { type Belfry, noDeliveries } from '#belfry.ts'
import { readSettings } from '#config.ts'
import { gitLimits } from '#git/limits.ts'
import { Storage } from '#git/storage.ts'
import { openTextSender } from '#identity/text-messages.ts'
import { Database, type DatabaseOptions } from '#platform/database.ts'
import { openFileStore } from '#platform/file-store/open-store.ts'
import { randomText } from '#platform/secrets.ts'
import { Vault } from '#platform/vault.ts'
import { bind, openTracing } from '#start.ts'
import { atEnd } from './at-end.ts'
import { copyDatabase, patient, takeDatabase } from './databases.ts'
import { until } from './machine.ts'

/** Time that stands still until a test moves it. */
export class TestClock {
  #now = firstMoment
  now() {
    return new Date(this.#now)
  }
  advance(milliseconds: number) {
    this.#now += milliseconds
  }
  reset() {
    this.#now = firstMoment
  }
}
const firstMoment = Date.parse('2026-02-03T04:05:06.789Z')

export interface ServerOptions {
  /** Settings as the environment would give them. */
  settings?: Record<string, string>
  /** A database that no other test will have, for one that changes its tables. */
  own_database?: true
  /** Reach it by this proxy; it must be the test's own. */
  proxy?: { port: number }
  database?: DatabaseOptions
}

export interface Server {
  belfry: Belfry
  clock: TestClock
  /** Everything that was logged, a line each. */
  logged: string[]
  /** Every text message that was sent. */
  texts: { phone: string; text: string }[]
  /** Ends the streams, waits for requests in flight, and removes what a test left. */
  reset(): Promise<void>
  close(): Promise<void>
}

// The test runner prints the message of an error that nothing caught, and not where it came from.
process.on('uncaughtExceptionMonitor', (error, origin) => process.stderr.write(`${origin}: ${inspect(error)}\n`))

/** Those that no test uses at the moment, by their settings. */
const idle = new Map<string, Server[]>()
/** Files that open their server for all tests return it in a hook that runs after this one. */
let over = false
atEnd(() => {
  over = true
  return Promise.all([...idle.values()].flat().map((server) => server.close()))
})

/**
 * Mounting a thousand routes takes 80 ms of processor time, so tests with the same settings take turns with one server. Ids continue from one test to
 * the next: what a process remembers by id cannot be about a row of a later test.
 */
export async function takeServer(options: ServerOptions): Promise<Server & AsyncDisposable> {
  const { settings = {}, ...own } = options
  const shared = !Object.keys(own).length
  const key = JSON.stringify(settings)
  const server = (shared && idle.get(key)?.pop()) || (await openServer(options))
  return Object.assign(server, {
    async [Symbol.asyncDispose]() {
      if (!shared || over) return server.close()
      await server.reset()
      idle.set(key, [...(idle.get(key) ?? []), server])
    },
  })
}

async function openServer({ settings: environment = {}, own_database, proxy, database: limits }: ServerOptions): Promise<Server> {
  await using undo = new AsyncDisposableStack()
  const data = await mkdtemp(join(tmpdir(), 'belfry-forge-'))
  undo.defer(() => rm(data, { recursive: true, force: true }))
  const { connection, empty, drop } = await (own_database ? copyDatabase() : takeDatabase())
  undo.defer(drop)
  const clock = new TestClock()
  const way = proxy && { host: '127.0.0.1', port: proxy.port }
  const db = undo.use(new Database({ ...connection, max: 8, ...way }, clock, limits ?? patient))
  const settings = readSettings({
    BELFRY_DATA: data,
    BELFRY_ADMIN_TOKEN: `bfp_${randomText(36)}`,
    BELFRY_RATE_LIMIT: 'off',
    ...environment,
  })
  const log = pino({ level: 'debug' }, { write: (line: string) => void server.logged.push(line) })
  db.tracer = await openTracing(settings, log)
  undo.defer(() => db.tracer?.close())
  const belfry: Belfry = {
    version: '0.0.0-test',
    settings,
    clock,
    log,
    db,
    storage: new Storage(data, gitLimits(settings)),
    files: undo.use(openFileStore(settings, log)),
    vault: new Vault(data),
    send_text:
      environment.BELFRY_SMS_URL === undefined
        ? async (phone, text) => void server.texts.push({ phone, text })
        : openTextSender(settings.BELFRY_SMS_URL, null, log),
    started_at: clock.now(),
    sent_deliveries: noDeliveries(),
    addresses: { web: '', versioned: '' },
  }
  const quiet = () => until('no query runs', () => [db.pool, db.background].every((pool) => pool.idleCount === pool.totalCount))
  const server: Server = {
    belfry,
    clock,
    logged: [],
    texts: [],
    async close() {
      // A handler whose client has left may still read: to close the database under it would be an error that nobody catches.
      await Promise.race([quiet().catch(() => {}), sleep(2000, undefined, { ref: false })])
      await running.disposeAsync()
    },
    async reset() {
      await endRequests()
      await until('the database is known to answer', () => !db.health.away)
      // Ends what is cached, and the counters of rate limits. Otherwise a request that is counted already would reach the next test's table.
      db.noteRewound()
      await quiet()
      await Promise.all([empty(), emptyFolder(data)])
      clock.reset()
      Object.assign(belfry.addresses, bound)
      server.logged = []
      server.texts = []
      // Ends what was cached until the tables were empty.
      db.notifyTransactionEnd('committed elsewhere')
    },
  }
  const app = await openApp(belfry)
  undo.defer(async () => {
    await Promise.all([app.web.close(), app.versioned.close()])
  })
  const endRequests = watchRequests(app)
  belfry.addresses.web = await bind(app.web, '127.0.0.1', 0, 'BELFRY_PORT', settings.BELFRY_URL)
  belfry.addresses.versioned = await bind(app.versioned, '127.0.0.1', 0, 'BELFRY_VERSIONED_PORT', settings.BELFRY_VERSIONED_URL)
  // Tests may change the addresses, and nothing else.
  const bound = { ...belfry.addresses }
  Object.freeze(belfry)
  Object.freeze(settings)
  const running = undo.move()
  return server
}

/** Returns a function that ends event streams, and waits until every other request is answered. */
function watchRequests(app: App) {
  const open = new Map<ServerResponse, Promise<void>>()
  const note = (_: IncomingMessage, response: ServerResponse) => {
    const closed = new Promise<void>((resolve) => {
      response.once('close', () => {
        open.delete(response)
        resolve()
      })
    })
    open.set(response, closed)
  }
  for (const { server } of [app.web, app.versioned]) server.prependListener('request', note)
  return async () => {
    while (open.size) {
      for (const response of open.keys()) {
        if (`${response.getHeader('content-type')}`.startsWith('text/event-stream')) response.destroy()
      }
      await Promise.all(open.values())
    }
  }
}

/** The vault has read its key already. */
async function emptyFolder(folder: string) {
  const names = (await readdir(folder)).filter((name) => name !== 'secrets.key')
  await Promise.all(names.map((name) => rm(join(folder, name), { recursive: true, force: true })))
}
