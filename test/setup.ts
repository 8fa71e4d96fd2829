import { accessSync, chmodSync, constants, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pino } from 'pino'
import { systemClock } from '#platform/clock.ts'
import { Database, sql } from '#platform/database.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#platform/embedded-postgres.ts'
import { removeAfterExit } from '#platform/exit-watch.ts'
import { migrate } from '#platform/migrate.ts'
import { patient } from './databases.ts'
import { clearEnvironment } from './environment.ts'

let folder: string
let postgres: EmbeddedPostgres

/** One PostgreSQL for the whole run. */
export async function globalSetup() {
  clearEnvironment()
  const place = process.env.TMPDIR || (isRoomy('/dev/shm') ? '/dev/shm' : '/tmp')
  process.env.TMPDIR = folder = mkdtempSync(join(resolve(place), 'belfry-test-'))
  removeAfterExit(folder)
  // The account that runs PostgreSQL must be able to enter.
  chmodSync(folder, 0o711)
  // Programs of other projects keep settings and caches in the home folder. It is beside what tests make: Graphile Worker reads the `.config` of every folder above it.
  process.env.HOME = join(folder, 'home')
  mkdirSync(process.env.HOME)
  // Nothing here has to survive a crash; the tests of that start a Belfry with settings of its own.
  const settings = {
    fsync: 'off',
    full_page_writes: 'off',
    synchronous_commit: 'off',
    max_connections: '800',
    shared_buffers: '64MB',
  }
  postgres = await startEmbeddedPostgres(folder, pino({ level: 'silent' }), settings)
  await using template = new Database(postgres.connection, systemClock, patient)
  await migrate(template)
  // No test may rely on an id: those of a database that was used before continue.
  await template.query(
    sql`select setval(c.oid::regclass, 1000) from pg_class c where c.relkind = 'S' and c.relnamespace = 'public'::regnamespace`,
  )
  process.env.BELFRY_TEST_POSTGRES = JSON.stringify(postgres.connection)
}

/**
 * Whether we may write there, 8 GB are free, and programs may run. In memory, a sync takes 0.1 ms instead of several, and tests of git wait for thousands; a
 * copy of a server's data takes 70 ms instead of 900.
 */
function isRoomy(path: string) {
  try {
    accessSync(path, constants.W_OK)
    const { bavail, bsize } = statfsSync(path)
    const [, options] = new RegExp(`^\\S+ ${path} \\S+ (\\S+)`, 'm').exec(readFileSync('/proc/mounts', 'utf8')) ?? []
    return bavail * bsize > 2 ** 33 && !options?.split(',').includes('noexec')
  } catch {
    return false
  }
}

export async function globalTeardown() {
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}
