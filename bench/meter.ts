import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/** What a server and its database used, since they started or between two readings. Times are processor time in milliseconds. */
export interface Usage {
  elapsed: number
  node: number
  postgres: number
  statements: number
  trips: number
  rows: number
  buffers: number
}

export interface StatementUse {
  query: string
  calls: number
  milliseconds: number
  rows: number
  buffers: number
}

interface Measured {
  server: number
  postmaster: number
  connection: pg.ClientConfig
  /** See round-trips.ts. */
  trips: string
}

/** Measures a running Belfry from outside. */
export class Meter implements AsyncDisposable {
  readonly #measured: Measured
  readonly #client: pg.Client
  #backend = 0
  /** Processor time of an idle server in milliseconds a second. It is subtracted from every row. */
  idle = { node: 0, postgres: 0 }

  constructor(measured: Measured) {
    this.#measured = measured
    this.#client = new pg.Client({ ...measured.connection, application_name: 'bench' })
  }

  async open() {
    await this.#client.connect()
    await this.#client.query('create extension if not exists pg_stat_statements')
    await this.#client.query(`set pg_stat_statements.track = 'none'`)
    const { rows } = await this.#client.query('select pg_backend_pid() as pid')
    this.#backend = rows[0].pid
  }

  async measureIdle() {
    await this.settle()
    const before = this.#times()
    await sleep(2000)
    const { elapsed, node, postgres } = subtract(this.#times(), before)
    this.idle = { node: (node / elapsed) * 1000, postgres: (postgres / elapsed) * 1000 }
  }

  async rows<R extends pg.QueryResultRow>(text: string) {
    return (await this.#client.query<R>(text)).rows
  }

  /** Waits until no job is left and neither process works any more. */
  async settle() {
    const deadline = performance.now() + 20_000
    for (let quiet = 0; quiet < 2; ) {
      if (performance.now() > deadline) throw new Error('Belfry does not become idle')
      const [due] = await this.rows<{ due: number }>(
        'select count(*)::int as due from graphile_worker.jobs where run_at <= now() and attempts < max_attempts',
      )
      const before = this.#times()
      await sleep(30)
      const { node, postgres } = subtract(this.#times(), before)
      quiet = due?.due || node + postgres > 3 ? 0 : quiet + 1
    }
  }

  /** Measures `work` and the jobs that it causes. */
  async measure(work: () => Promise<unknown>): Promise<Usage> {
    const counted = await this.#counts()
    const before = this.#times()
    await work()
    await this.settle()
    const after = this.#times()
    const used = subtract({ ...after, ...(await this.#counts()) }, { ...before, ...counted })
    const seconds = used.elapsed / 1000
    return {
      ...used,
      node: Math.max(0, used.node - this.idle.node * seconds),
      postgres: Math.max(0, used.postgres - this.idle.postgres * seconds),
    }
  }

  async forgetStatements() {
    await this.rows('select pg_stat_statements_reset()')
  }

  async statements() {
    return this.rows<StatementUse>(`
      select query, calls::int, total_exec_time as milliseconds, rows::int, (shared_blks_hit + shared_blks_read)::int as buffers
      from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database())
      order by total_exec_time desc limit 12`)
  }

  async #counts(): Promise<Pick<Usage, 'statements' | 'trips' | 'rows' | 'buffers'>> {
    const [total] = await this.rows<{ statements: number; rows: number; buffers: number }>(`
      select coalesce(sum(calls), 0)::float8 as statements, coalesce(sum(rows), 0)::float8 as rows,
        coalesce(sum(shared_blks_hit + shared_blks_read), 0)::float8 as buffers from pg_stat_statements`)
    return { statements: 0, rows: 0, buffers: 0, ...total, trips: await this.#trips() }
  }

  #times(): Usage {
    const { server, postmaster } = this.#measured
    const times = processorTimes(server, postmaster, this.#backend)
    return { elapsed: performance.now(), ...times, statements: 0, trips: 0, rows: 0, buffers: 0 }
  }

  async #trips(): Promise<number> {
    const { server, trips } = this.#measured
    rmSync(trips, { force: true })
    process.kill(server, 'SIGUSR2')
    for (let waited = 0; waited < 5000; waited += 5) {
      const text = read(trips)
      if (text.endsWith('\n')) return Number(text)
      await sleep(5)
    }
    throw new Error('Belfry does not report its round trips')
  }

  async [Symbol.asyncDispose]() {
    await this.#client.end()
  }
}

/** Since both were started, without one backend. */
export function processorTimes(server: number, postmaster: number, except = 0): Pick<Usage, 'node' | 'postgres'> {
  let postgres = runtime(`/proc/${postmaster}/schedstat`) + endedTime(postmaster)
  for (const child of childrenOf(postmaster)) if (child !== except) postgres += runtime(`/proc/${child}/schedstat`)
  const threads = readdirSync(`/proc/${server}/task`)
  const node = threads.reduce((sum, thread) => sum + runtime(`/proc/${server}/task/${thread}/schedstat`), 0)
  return { node, postgres }
}

function subtract(after: Usage, before: Usage): Usage {
  return Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - before[name as keyof Usage]])) as never
}

function read(path: string) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process, or the thread, has ended.
    return ''
  }
}

/** In milliseconds. `utime` and `stime` are the same time, but in steps of ten milliseconds. */
const runtime = (path: string) => Number(read(path).split(' ')[0] ?? 0) / 1e6

/** Processor time of children that have ended: `cutime` and `cstime`, in hundredths of a second. */
function endedTime(pid: number) {
  const fields = read(`/proc/${pid}/stat`)
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * 10
}

const childrenOf = (pid: number) => read(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean).map(Number)
