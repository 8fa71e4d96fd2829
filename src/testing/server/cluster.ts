import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { codeOf } from '#platform/database.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#platform/embedded-postgres.ts'
import { removeAfterExit } from '#platform/exit-watch.ts'
import type { Logger } from '#platform/log.ts'
import { identityOf, worksIn } from '#platform/processes.ts'
import { clusterSettings, placeCluster } from './prepared-cluster.ts'

const prefix = 'belfry-test-server-'

/** The PostgreSQL of a test server, in a temporary folder that also has the repositories. Its database `belfry` is migrated and empty. */
export class Cluster implements AsyncDisposable {
  readonly folder: string
  readonly #postgres: EmbeddedPostgres
  readonly #admin: pg.Client
  #last: Promise<unknown> = Promise.resolve()

  static async open(log: Logger): Promise<Cluster> {
    sweepFolders()
    const folder = mkdtempSync(join(temporaryFolder(), `${prefix}${process.pid}-`))
    removeAfterExit(folder)
    try {
      // The account that runs PostgreSQL must be able to enter.
      chmodSync(folder, 0o711)
      await placeCluster(folder, log)
      const postgres = await startEmbeddedPostgres(folder, log, clusterSettings)
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

/** In memory, if there is room: a new world copies a thousand files, which takes 15 ms there and 100 ms on a disk. */
function temporaryFolder() {
  try {
    accessSync('/dev/shm', constants.W_OK)
    const { bavail, bsize } = statfsSync('/dev/shm')
    if (bavail * bsize > 2 ** 30) return '/dev/shm'
  } catch (error) {
    if (!['ENOENT', 'EACCES', 'EROFS'].includes(`${codeOf(error)}`)) throw error
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
