import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { systemClock } from '#platform/clock.ts'
import { Database } from '#platform/database.ts'
import { startEmbeddedPostgres } from '#platform/embedded-postgres.ts'
import type { Logger } from '#platform/log.ts'
import { migrate } from '#platform/migrate.ts'
import { asAccount, findLocation, makeOwned } from '#platform/postgres-location.ts'

const exec = promisify(execFile)

/** Nothing has to survive a crash. Without the workers for reading ahead and vacuuming, an idle server is four processes. */
export const clusterSettings = {
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

/** In the package only, see bin/build.ts. It fits machines like the one that made the package; on others, the first start makes its own. */
export const archive = `cluster-${process.platform}-${process.arch}.tar.gz`
const shipped = join(import.meta.dirname, archive)

/**
 * Puts a cluster with a migrated, empty database into `folder`: from the package, from an earlier start on this machine, or made anew, which
 * takes 1 s longer.
 */
export async function placeCluster(folder: string, log: Logger) {
  if (existsSync(shipped) && (await unpack(folder, log))) return
  const kept = keptFolder()
  if (kept && existsSync(kept)) return void (await copyFolder(join(kept, 'postgres'), join(folder, 'postgres')))
  await makePreparedCluster(folder, log)
  if (kept) await keep(folder, kept, log)
}

/** Runs tar as the account of PostgreSQL, which must own the files, and as a process, because this one loads the program meanwhile. */
async function unpack(folder: string, log: Logger) {
  const { account, cluster } = findLocation(folder)
  try {
    makeOwned(cluster, account)
    await exec('tar', ['-xzf', shipped, '-C', cluster], asAccount(account))
    return true
  } catch (error) {
    rmSync(cluster, { recursive: true, force: true })
    log.debug({ err: error }, 'could not unpack the database of the package')
    return false
  }
}

export async function makePreparedCluster(folder: string, log: Logger) {
  const postgres = await startEmbeddedPostgres(folder, log, clusterSettings)
  {
    await using database = new Database(postgres.connection, systemClock)
    await migrate(database)
  }
  await dropTemplates({ ...postgres.connection, database: 'postgres' })
  await postgres.stop()
}

/** Half of the files. Databases of worlds are copies of others. */
async function dropTemplates(connection: pg.ClientConfig) {
  const client = new pg.Client(connection)
  await client.connect()
  await client.query(`update pg_database set datistemplate = false where datname in ('template0', 'template1')`)
  for (const name of ['template0', 'template1']) await client.query(`drop database ${name}`)
  await client.end()
}

/** A place that cannot be written to is no error, because only later starts would need it. */
async function keep(folder: string, kept: string, log: Logger) {
  const draft = `${kept}.${process.pid}`
  try {
    const caches = makeOwned(dirname(kept), undefined)
    removeOld(caches)
    makeOwned(draft, undefined)
    await copyFolder(join(folder, 'postgres'), join(draft, 'postgres'))
    // Another test server may have been faster.
    renameSync(draft, kept)
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
function keptFolder() {
  const cache = process.env.NODE_COMPILE_CACHE
  if (!cache) return undefined
  const root = join(import.meta.dirname, '..', '..', '..')
  const migrations = join(root, 'migrations')
  const hash = createHash('sha256').update(`${process.getuid?.()} ${process.arch}`)
  for (const name of readdirSync(migrations).sort()) hash.update(name).update(readFileSync(join(migrations, name)))
  const postgres = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
  // The manifest changes with the version of the queue, whose tables are in the database.
  for (const name of [join(root, 'package.json'), postgres]) hash.update(name).update(`${statSync(name).mtimeMs}`)
  return join(dirname(cache), 'belfry-test-server', hash.digest('hex').slice(0, 16))
}

export const copyFolder = (from: string, to: string) => exec('cp', ['-a', from, to])
