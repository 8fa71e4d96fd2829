import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runMigrations } from 'graphile-worker'
import type pg from 'pg'
import { codeOf, type Database } from './database.ts'
import { StartError } from './errors.ts'

const folder = join(import.meta.dirname, '..', '..', 'migrations')

/** The advisory lock of the node that migrates. */
const lock = 0x62656c66

/** Insufficient privilege, or no usable schema. */
const forbidding = new Set(['42501', '3F000'])

/** Migrates the database once, even if several nodes start at the same time. Returns the names of the applied migrations. */
export async function migrate({ background, health }: Database): Promise<string[]> {
  const client = await background.connect()
  // A migration of a large table can take any time, and so can waiting for another node's.
  health.unwatch(client)
  try {
    await client.query('set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0')
    await client.query('select pg_advisory_lock($1)', [lock])
    const applied = await applyMissing(client)
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

async function applyMissing(client: pg.PoolClient) {
  const files = readdirSync(folder)
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort()
  await client.query(
    'create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())',
  )
  const { rows } = await client.query<{ name: string }>('select name from migrations order by name')
  const done = new Set(rows.map((row) => row.name))
  const unknown = [...done].filter((name) => !files.includes(name))
  if (unknown.length) {
    throw new StartError(`The database is newer than this Belfry (it has ${unknown.join(', ')}). Start a newer Belfry on it.`)
  }
  const wanting = files.filter((name) => !done.has(name))
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
