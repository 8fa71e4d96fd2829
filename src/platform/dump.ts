import type pg from 'pg'
import { copyIn, copyOut } from './copy-table.ts'

/** What a dump says about itself, before its rows. */
export interface DumpPlan {
  migrations: string[]
  /** By schema and name, in the order in which they are dumped. */
  tables: { name: string; columns: string[] }[]
  /** Tables that were made at run time, such as a month of events. */
  partitions: { name: string; parent: string; bound: string }[]
  /** Last values; null for one that was never used. */
  sequences: Record<string, string | null>
}

/** Rows that are only true of the server that wrote them: which transactions touched what or were in a list, which workers live, and its maintenance. */
const skipped = ['public.topic_changes', 'public.list_snapshots', 'public.workers', 'public.maintenance']

const schemas = `('public', 'graphile_worker')`

/** Begins a snapshot in which everything is read, whatever others write meanwhile. */
export async function beginSnapshot(client: pg.Client): Promise<DumpPlan> {
  await client.query('set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0')
  await client.query('begin isolation level repeatable read, read only')
  const { rows: migrations } = await client.query<{ name: string }>('select name from public.migrations order by name')
  const { rows: tables } = await client.query<{ name: string; columns: string[] }>(`
    select format('%I.%I', n.nspname, c.relname) as name, to_json(array(
      select quote_ident(a.attname) from pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum)) as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ${schemas} and c.relkind in ('r', 'p') and not c.relispartition order by 1`)
  const { rows: partitions } = await client.query<DumpPlan['partitions'][number]>(`
    select format('%I.%I', n.nspname, c.relname) as name, format('%I.%I', pn.nspname, p.relname) as parent,
      pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_namespace n on n.oid = c.relnamespace
      join pg_class p on p.oid = i.inhparent join pg_namespace pn on pn.oid = p.relnamespace
    where c.relkind in ('r', 'p') and c.relispartition and n.nspname in ${schemas} order by 1`)
  // Sequences are not part of a snapshot. Later values are right too: ids that rows have are below them.
  const { rows: sequences } = await client.query<{ name: string; last: string | null }>(`
    select format('%I.%I', schemaname, sequencename) as name, last_value::text as last from pg_sequences where schemaname in ${schemas}`)
  return {
    migrations: migrations.map(({ name }) => name),
    tables: tables.filter(({ name }) => !skipped.includes(name)),
    partitions,
    sequences: Object.fromEntries(sequences.map(({ name, last }) => [name, last])),
  }
}

/** The rows of a table in PostgreSQL's text format. */
export function dumpTable(client: pg.Client, { name, columns }: DumpPlan['tables'][number]) {
  return copyOut(client, `copy (select ${columns.join(', ')} from ${name}) to stdout`)
}

/**
 * Fills a migrated database in one transaction, table by table. Triggers would count rows again and references depend on the
 * order of tables, so both are off until all rows are there; then PostgreSQL checks every reference. Needs the owner of the tables only.
 */
export async function loadDump(
  client: pg.Client,
  plan: DumpPlan,
  tables: AsyncIterable<{ name: string; rows: AsyncIterable<Buffer> }>,
) {
  await client.query('set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0')
  await client.query('begin')
  try {
    const { rows: references } = await client.query<{ on: string; name: string; definition: string }>(`
      select k.conrelid::regclass::text as on, quote_ident(k.conname) as name, pg_get_constraintdef(k.oid) as definition
      from pg_constraint k join pg_namespace n on n.oid = k.connamespace
      where k.contype = 'f' and k.conparentid = 0 and n.nspname in ${schemas}`)
    for (const { on, name } of references) await client.query(`alter table ${on} drop constraint ${name}`)
    const names = plan.tables.map(({ name }) => name)
    for (const name of names) await client.query(`alter table ${name} disable trigger user`)
    await client.query(`truncate ${names.join(', ')}`)
    for (const { name, parent, bound } of plan.partitions)
      await client.query(`create table if not exists ${name} partition of ${parent} ${bound}`)
    for await (const { name, rows } of tables) {
      const table = plan.tables.find((each) => each.name === name)
      if (!table) throw new Error(`the backup has rows of ${name}, and does not describe that table`)
      await copyIn(client, `copy ${name} (${table.columns.join(', ')}) from stdin`, rows)
    }
    for (const { on, name, definition } of references)
      await client.query(`alter table ${on} add constraint ${name} ${definition}`)
    for (const name of names) await client.query(`alter table ${name} enable trigger user`)
    for (const [name, last] of Object.entries(plan.sequences)) {
      const exists = await client.query('select to_regclass($1) as found', [name])
      if (last !== null && exists.rows[0].found) await client.query('select setval($1::regclass, $2::bigint)', [name, last])
    }
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
  await client.query('analyze')
}
