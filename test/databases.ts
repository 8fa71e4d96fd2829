import pg from 'pg'
import type { DatabaseOptions } from '#platform/database.ts'
import { randomText } from '#platform/secrets.ts'
import { KeptClient, openSessions } from './kept-sessions.ts'

export interface TestDatabase {
  connection: pg.PoolConfig
  /** Removes all rows that did not come with the migrations. */
  empty(): Promise<void>
  /** Nobody needs it any more. */
  drop(): Promise<void>
}

/**
 * A busy machine may keep a connection, a lock, a statement, a transaction or a probe waiting for seconds, and that decides no test: a process
 * that loads fifty test files does nothing else for ten seconds, and for forty beside other work. Tests of outages have limits of their own.
 */
export const patient: DatabaseOptions = {
  probe: 120_000,
  brief: { connect: 120_000, lock: 25_000, statement: 120_000, pause: 120_000 },
  long: { connect: 120_000, pause: 120_000 },
}

const server = (): pg.ClientConfig => JSON.parse(process.env.BELFRY_TEST_POSTGRES ?? '{}')

async function run(database: string, statement: string) {
  const client = new pg.Client({ ...server(), database })
  await client.connect()
  try {
    return await client.query(statement)
  } finally {
    await client.end()
  }
}

/** A database of its own, copied from the migrated one. */
export async function copyDatabase(): Promise<TestDatabase> {
  const name = `forge_${process.pid}_${randomText(12).toLowerCase()}`
  await run('postgres', `create database ${name} template belfry`)
  return {
    connection: { ...server(), database: name },
    empty: async () => void (await run(name, emptying([]))),
    drop: async () => void (await run('postgres', `drop database ${name} with (force)`)),
  }
}

/** Drops what a process of tests that was killed has left. */
export async function dropDatabasesOf(pid: number) {
  const { rows } = await run('postgres', `select datname from pg_database where starts_with(datname, 'forge_${pid}_')`)
  for (const { datname } of rows) await run('postgres', `drop database ${datname} with (force)`)
}

interface Spare {
  name: string
  /** Stays connected: a session that knows the tables empties them in a third of the time. */
  cleaner: KeptClient
}
const spare: Spare[] = []

/** The same, or one that was used before and emptied: copying takes 250 milliseconds, and emptying 10. */
export async function takeDatabase(): Promise<TestDatabase> {
  const taken = spare.pop() ?? (await prepareSpare())
  const empty = async () => {
    taken.cleaner.ref()
    await taken.cleaner.query(emptying(await openSessions()))
    taken.cleaner.unref()
  }
  return {
    connection: { ...server(), database: taken.name, Client: KeptClient },
    empty,
    drop: async () => {
      await empty()
      spare.push(taken)
    },
  }
}

async function prepareSpare(): Promise<Spare> {
  const { database: name = '' } = (await copyDatabase()).connection
  const cleaner = new KeptClient({ ...server(), database: name, application_name: 'cleaner' })
  await cleaner.connect()
  cleaner.unref()
  return { name, cleaner }
}

/**
 * Back to the rows of the migrations, but ids continue. Ends sessions other than those of the pools; partitions of the log are dropped. A probe
 * ends by itself: to end it would tell its server that the database is away.
 */
const emptying = (kept: number[]) => `
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and pid <> all('{${kept}}')
    and application_name <> 'belfry probe';
  set session_replication_role = replica;
  do $$
  declare
    name text;
  begin
    for name in select inhrelid::regclass from pg_inherits where inhparent = 'events'::regclass loop
      execute 'drop table ' || name;
    end loop;
    for name in
      select c.oid::regclass from pg_class c
      where c.relkind = 'r' and c.relnamespace in ('public'::regnamespace, 'graphile_worker'::regnamespace)
        and c.relname not in ('migrations', 'log_base')
    loop
      execute 'delete from ' || name;
    end loop;
    update log_base set base = 0;
    -- No trigger runs here: a server that goes on must make every response anew.
    perform touch_topics(array['w']);
  end
  $$`
