import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import type { BrowserServer } from 'playwright-core'
import { systemClock } from '#platform/clock.ts'
import { Database, sql } from '#platform/database.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#platform/embedded-postgres.ts'
import { migrate } from '#platform/migrate.ts'

let folder: string
let memory: string | undefined
let postgres: EmbeddedPostgres
let browser: BrowserServer | undefined

/** One PostgreSQL, and one browser, for the whole run. */
export async function globalSetup() {
  // Not below TMPDIR: the account that runs PostgreSQL must be able to enter.
  folder = mkdtempSync(join('/tmp', 'belfry-test-'))
  chmodSync(folder, 0o711)
  // Nothing here has to survive a crash; the tests of that start a Belfry with settings of its own.
  const settings = {
    fsync: 'off',
    full_page_writes: 'off',
    synchronous_commit: 'off',
    max_connections: '800',
    shared_buffers: '64MB',
  }
  postgres = await startEmbeddedPostgres(folder, pino({ level: 'silent' }), settings)
  await using template = new Database(postgres.connection, systemClock)
  await migrate(template)
  // No test may rely on an id: those of a database that was used before continue.
  await template.query(
    sql`select setval(c.oid::regclass, 1000) from pg_class c where c.relkind = 'S' and c.relnamespace = 'public'::regnamespace`,
  )
  process.env.BELFRY_TEST_POSTGRES = JSON.stringify(postgres.connection)
  if (isRoomy('/dev/shm')) process.env.TMPDIR = memory = mkdtempSync('/dev/shm/belfry-test-')
  // Tests of a few files start a browser if they need one.
  if (process.env.BELFRY_TEST_BROWSER === 'shared') {
    browser = await (await import('./browser.ts')).serveBrowser()
    process.env.BELFRY_TEST_BROWSER = browser.wsEndpoint()
  }
}

/**
 * Whether the files of tests fit there: 4 GB, and programs may run. In memory, a sync takes 0.1 ms instead of several, and tests of git
 * wait for thousands.
 */
function isRoomy(place: string) {
  try {
    const { bavail, bsize } = statfsSync(place)
    const [, options] = new RegExp(`^\\S+ ${place} \\S+ (\\S+)`, 'm').exec(readFileSync('/proc/mounts', 'utf8')) ?? []
    return bavail * bsize > 2 ** 32 && !options?.split(',').includes('noexec')
  } catch {
    return false
  }
}

export async function globalTeardown() {
  await browser?.close()
  await postgres.stop()
  for (const path of [folder, memory]) if (path) rmSync(path, { recursive: true, force: true })
}
