import pg from 'pg'

interface Table {
  oid: number
  name: string
  /** Without generated ones, which cannot be written. */
  columns: string[]
  /** Of the primary key. */
  key: string[]
}

interface Sequence {
  name: string
  last: string
  called: boolean
}

/** PostgreSQL vacuums nothing by itself here, see clusterSettings. Often enough for scans to stay short, which takes 1 ms for each table. */
const vacuumEvery = 100

/** The rows and sequences of a copy of a seeded database. */
export class SeededRows implements AsyncDisposable {
  readonly #connection: pg.ClientConfig
  #client: pg.Client | undefined
  readonly #changed = new Set<string>()
  #count = 0

  constructor(connection: pg.ClientConfig) {
    this.#connection = connection
  }

  /** Puts them back. The first time takes 0.1 s longer, because PostgreSQL makes plans for all tables. */
  async putBack() {
    this.#client ??= await this.#open()
    const { rows } = await this.#client.query<{ changed: string[] }>('select seeded.put_back() as changed')
    for (const name of rows[0]?.changed ?? []) this.#changed.add(name)
    if (++this.#count % vacuumEvery || !this.#changed.size) return
    await this.#client.query(`vacuum ${[...this.#changed].join(', ')}`)
    this.#changed.clear()
  }

  async #open() {
    const client = new pg.Client(this.#connection)
    // It ends with the database.
    client.on('error', () => {})
    await client.connect()
    // Rows are put back without triggers and foreign keys.
    await client.query('set session_replication_role = replica')
    return client
  }

  async [Symbol.asyncDispose]() {
    await this.#client?.end().catch(() => {})
  }
}

/** Of Belfry and of its queue. Rows of a partitioned table are in its partitions. */
const ours = `n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'seeded')`

/**
 * Copies the rows of a database into its schema `seeded`, with a function that puts them back. The function has one statement for each table, because
 * PostgreSQL keeps their plans: running all of them on a small seed takes 4 ms, planning them 60.
 */
export async function saveRows(connection: pg.ClientConfig) {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await client.query('begin; create schema seeded')
    await client.query('create table seeded.moment as select pg_current_xact_id()::text::bigint as xid')
    const filled = new Set<string>()
    const tables = await listTables(client)
    for (const { name } of await findFilled(client, tables)) {
      filled.add(name)
      await client.query(`create table ${copyOf(name)} as table ${name}`)
    }
    const steps = [
      ...tables.map((table) => (filled.has(table.name) ? restoring(table) : emptying(table))),
      ...(await listSequences(client)).map(rewinding),
    ]
    await client.query(functionOf(tables, steps))
    await client.query('commit')
  } finally {
    await client.end()
  }
}

const copyOf = (name: string) => `seeded.${pg.escapeIdentifier(name)}`

async function listTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(`
    select c.oid, c.oid::regclass::text as name,
      array(select quote_ident(a.attname) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum) as columns,
      array(select quote_ident(a.attname) from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
        where i.indrelid = c.oid and i.indisprimary) as key
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'r' and ${ours} order by c.oid`)
  return rows
}

async function findFilled(client: pg.Client, tables: Table[]): Promise<{ name: string }[]> {
  const looks = tables.map(({ name }) => `select ${pg.escapeLiteral(name)} as name where exists (select from ${name})`)
  return (await client.query(looks.join(' union all '))).rows
}

async function listSequences(client: pg.Client): Promise<Sequence[]> {
  const { rows } = await client.query<Sequence>(`
    select c.oid::regclass::text as name, d.last_value::text as last, d.is_called as called
    from pg_class c join pg_namespace n on n.oid = c.relnamespace, pg_get_sequence_data(c.oid) d where c.relkind = 'S' and ${ours}`)
  return rows
}

const emptying = ({ name }: Table) => `
  delete from ${name};
  if found then changed := changed || ${pg.escapeLiteral(name)}::text; end if;`

/** Rows that were not written since are those of the seed. Without a primary key, all are written again. */
function restoring({ name, columns, key }: Table) {
  const all = columns.join(', ')
  const missing = key.length
    ? ` s where not exists (select from ${name} t where ${key.map((column) => `t.${column} = s.${column}`).join(' and ')})`
    : ''
  return `
  select count(*), count(*) filter (where xmin::text::bigint > since) from ${name} into present, written;
  if written > 0 or present <> (select count(*) from ${copyOf(name)}) then
    delete from ${name}${key.length ? ' where xmin::text::bigint > since' : ''};
    insert into ${name} (${all}) overriding system value select ${all} from ${copyOf(name)}${missing};
    changed := changed || ${pg.escapeLiteral(name)}::text;
  end if;`
}

const rewinding = ({ name, last, called }: Sequence) => `
  perform setval(${pg.escapeLiteral(name)}, ${last}, ${called}) from ${name} where last_value <> ${last} or is_called <> ${called};`

/** A month that had no event yet gets a partition by its first one. It stays, without rows. A table that was dropped is an error. */
const functionOf = (tables: Table[], steps: string[]) => `
create function seeded.put_back() returns text[] language plpgsql as $put_back$
declare
  since bigint := (select xid from seeded.moment);
  present bigint;
  written bigint;
  changed text[] := '{}';
  partition regclass;
begin
  if exists (select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null) then
    raise 'a transaction is open';
  end if;
  ${steps.join('')}
  for partition in select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and ${ours} and c.oid <> all('{${tables.map(({ oid }) => oid)}}'::oid[])
  loop
    execute 'delete from ' || partition;
  end loop;
  update seeded.moment set xid = pg_current_xact_id()::text::bigint;
  return changed;
end
$put_back$`
