import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runMigrations } from 'graphile-worker'
import type pg from 'pg'
import { codeOf, type Database, sql } from './database.ts'
import { StartError } from './errors.ts'

const folder = join(import.meta.dirname, '..', '..', 'migrations')

/** The advisory lock of the node that migrates. */
const lock = 0x62656c66

/** Insufficient privilege, or no usable schema. */
const forbidding = new Set(['42501', '3F000'])

/**
 * Migrates the database once, even if several nodes start at the same time. Returns the names of the applied migrations. `only` names those that
 * a backup was made with.
 */
export async function migrate({ background, health }: Database, only?: ReadonlySet<string>): Promise<string[]> {
  const client = await background.connect()
  // A migration of a large table can take any time, and so can waiting for another node's.
  health.unwatch(client)
  try {
    await client.query('set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0')
    await client.query('select pg_advisory_lock($1)', [lock])
    const applied = await applyMissing(client, only)
    await runMigrations({ pgPool: background })
    return applied
  } catch (error) {
    if (!forbidding.has(codeOf(error) ?? '')) throw error
    throw new StartError(`Belfry may not set up the database: ${(error as Error).message}. Its user must own the database.`)
  } finally {
    // Closing the session releases the lock.
    client.release(true)
  }
}

/** Refuses a database of another version, for commands that must not migrate it. */
export async function checkMigrated(db: Database) {
  const created = await db.load<{ found: boolean }>(sql`select to_regclass('migrations') is not null as found`)
  const rows = created.found ? await db.rows<{ name: string }>(sql`select name from migrations`) : []
  const done = new Set(rows.map(({ name }) => name))
  const files = listMigrations()
  checkKnown(done, files)
  const wanting = files.filter((name) => !done.has(name))
  if (wanting.length) {
    throw new StartError(`The database is older than this Belfry (it lacks ${wanting.join(', ')}). Start this Belfry on it once.`)
  }
}

/** The migrations of this Belfry. */
export function listMigrations() {
  return readdirSync(folder)
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort()
}

export function checkKnown(done: ReadonlySet<string>, files = listMigrations()) {
  const unknown = [...done].filter((name) => !files.includes(name))
  if (unknown.length) {
    throw new StartError(`The database is newer than this Belfry (it has ${unknown.join(', ')}). Start a newer Belfry on it.`)
  }
}

async function applyMissing(client: pg.PoolClient, only: ReadonlySet<string> | undefined) {
  const files = listMigrations()
  await client.query(
    'create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())',
  )
  const { rows } = await client.query<{ name: string }>('select name from migrations order by name')
  const done = new Set(rows.map((row) => row.name))
  checkKnown(done, files)
  const wanting = files.filter((name) => !done.has(name) && (!only || only.has(name)))
  for (const name of wanting) {
    await client.query('begin')
    try {
      await client.query(readFileSync(join(folder, name), 'utf8'))
      await client.query('insert into migrations (name) values ($1)', [name])
      await client.query('commit')
    } catch (error) {
      await client.query('rollback')
      throw error
    }
  }
  return wanting
}
