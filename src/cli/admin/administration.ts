import { existsSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Operator } from '#activity/audit.ts'
import { readSettings, type Settings } from '#config.ts'
import { gitLimits } from '#git/limits.ts'
import { Storage } from '#git/storage.ts'
import type { Clock } from '#platform/clock.ts'
import { notifyNodes } from '#platform/commit-notifications.ts'
import { claimantOf, claimDataFolder } from '#platform/data-folder.ts'
import { codeOf, Database } from '#platform/database.ts'
import { connectionsTo, primaryFirst } from '#platform/database-servers.ts'
import { connectionTo, startEmbeddedPostgres } from '#platform/embedded-postgres.ts'
import { StartError } from '#platform/errors.ts'
import type { FileStore } from '#platform/file-store/file-store.ts'
import { openFileStore } from '#platform/file-store/open-store.ts'
import { type Logger, openLog } from '#platform/log.ts'
import { checkMigrated } from '#platform/migrate.ts'
import { findLocation, hasDatabase } from '#platform/postgres-location.ts'
import { Vault } from '#platform/vault.ts'

/** What a command of an operator works on: the database and the files of one Belfry, whether its server runs or not. */
export interface Administration extends AsyncDisposable {
  db: Database
  /** For sessions besides those of `db`. */
  connection: pg.ClientConfig
  storage: Storage
  files: FileStore
  vault: Vault
  settings: Settings
  clock: Clock
  log: Logger
  operator: Operator
  /** The process of the server, if it runs on this machine with the embedded database. */
  server: number | undefined
}

/**
 * Connects to the database of `DATABASE_URL`, or to the embedded one of `BELFRY_DATA`. If no server runs on it, starts the embedded
 * database until the administration is disposed of, and claims the data folder so that no server starts meanwhile.
 */
export async function openAdministration(environment: NodeJS.ProcessEnv, clock: Clock): Promise<Administration> {
  const settings = readSettings(environment)
  const log = openLog(environment.BELFRY_LOG ? settings.BELFRY_LOG : 'warn')
  checkDataFolder(settings)
  await using undo = new AsyncDisposableStack()
  const files = undo.use(openFileStore(settings, log))
  const { connection, server } = await connect(settings, log, undo)
  const db = undo.use(new Database({ ...connection, max: 4 }, clock))
  await checkMigrated(db)
  // The nodes drop what they have cached. An embedded server does not listen: it checks what it cached after 0.8 s.
  let changed = false
  db.onTransactionEnd((ending) => {
    changed ||= ending === 'committed here'
  })
  undo.defer(async () => {
    if (changed) await notifyNodes(db)
  })
  const opened = undo.move()
  return {
    db,
    connection,
    storage: new Storage(settings.BELFRY_DATA, gitLimits(settings)),
    files,
    vault: new Vault(settings.BELFRY_DATA),
    settings,
    clock,
    log,
    operator: { operator: userInfo().username },
    server,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** A wrong folder would get a new key, and files of another account could not be written by the server afterwards. */
function checkDataFolder({ BELFRY_DATA: data }: Settings) {
  const key = join(data, 'secrets.key')
  if (!existsSync(key))
    throw new StartError(
      `BELFRY_DATA is ${JSON.stringify(data)}: no Belfry has been started there. Set it to the server's data folder.`,
    )
  const owner = statSync(key).uid
  if (process.getuid && owner !== process.getuid())
    throw new StartError(
      `${data} belongs to another account (user id ${owner}). Run this command as the account that runs Belfry.`,
    )
}

/** Milliseconds that a server that has just claimed the folder may take until its database answers. */
const patience = 15_000

async function connect(
  { BELFRY_DATA: data, DATABASE_URL: url }: Settings,
  log: Logger,
  undo: AsyncDisposableStack,
): Promise<{ connection: pg.ClientConfig; server?: number | undefined }> {
  if (url !== null) {
    const [connection] = await primaryFirst(connectionsTo(url))
    return { connection }
  }
  if (!hasDatabase(data)) throw new StartError(`${data} has no embedded database. Set DATABASE_URL as the server has it.`)
  const server = claimantOf(data)
  if (server === undefined) {
    undo.use(claimDataFolder(data))
    const postgres = await startEmbeddedPostgres(data, log)
    undo.defer(() => postgres.stop())
    return { connection: postgres.connection }
  }
  const connection = connectionTo(findLocation(data))
  for (let waited = 0; ; waited += 100) {
    const failure = await probe(connection)
    if (!failure) return { connection, server }
    // The server is starting, or restarts its database.
    const starting = ['ENOENT', 'ECONNREFUSED', '57P03'].includes(codeOf(failure) ?? '')
    if (!starting || waited >= patience)
      throw new StartError(`Process ${server} runs Belfry on ${data}, but its database does not answer: ${describe(failure)}.`)
    await sleep(100)
  }
}

async function probe(connection: pg.ClientConfig): Promise<unknown> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return undefined
  } catch (error) {
    return error
  } finally {
    await client.end().catch(() => {})
  }
}

/** If a host name has several addresses, the message is empty. */
const describe = (error: unknown) => (error instanceof Error && error.message) || codeOf(error) || 'no reason given'
