import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientConfig } from 'pg'
import { Pool } from 'undici'
import { systemClock } from '#platform/clock.ts'
import { Database, sql } from '#platform/database.ts'
import { findLocation } from '#platform/postgres-location.ts'
import { makeFolder, type RunningBelfry, startBelfry, withDatabase } from './belfry.ts'
import { askedElsewhere, askedIn, type Call, Changing, type Row, rows, writesTo } from './cold-rows.ts'
import { seedCold } from './cold-seed.ts'
import { Meter, type Usage } from './meter.ts'
import { conclude, judge, median, note, write } from './report.ts'

const rounds = Number(process.env.BENCH_ROUNDS ?? 3)
const warmUp = Number(process.env.BENCH_WARM_UP ?? 1000)
const writesPerSecond = 50

/**
 * Requests spread over many people and repositories, each address asked rarely: nothing is answered from a cache that was filled by the
 * same request a moment ago. Before each round, writes at 50 a second change what the round asks for (for polls, they change something
 * else), and the jobs that they cause end. The round itself runs without writes beside it: their processor time is larger than that of
 * the reads and would have to be subtracted, with an error larger than what is measured. Counting statements costs PostgreSQL a few
 * microseconds for each.
 */
export async function measureCold(pattern = /./) {
  using folder = makeFolder()
  await withDatabase(folder.path, async (db) => {
    await db.query(sql`alter system set shared_preload_libraries = 'pg_stat_statements'`)
    // It would run during some rows and not during others.
    await db.query(sql`alter system set autovacuum = off`)
  })
  const trips = join(folder.path, 'round-trips')
  await using belfry = await startBelfry(folder.path, {
    NODE_OPTIONS: `--import=${import.meta.resolve('./round-trips.ts')}`,
    BENCH_ROUND_TRIPS: trips,
  })
  const { cluster, socket } = findLocation(folder.path)
  const connection = { host: socket, user: 'belfry', database: 'belfry' }
  await seed(connection)
  const postmaster = parseInt(readFileSync(join(cluster, 'postmaster.pid'), 'utf8'), 10)
  await using meter = new Meter({ server: belfry.pid, postmaster, connection, trips })
  await using client = openClient(belfry)
  await meter.open()
  const state = new Changing(await unreadThreads(meter))
  await warm(client, state)
  await meter.measureIdle()
  write(
    `\nEach address asked rarely, 50 people, 200 repositories, 10,000 acts; ${rounds} rounds. Processor time in milliseconds, the rest`,
  )
  write(
    `also for one request. Idle, Node takes ${meter.idle.node.toFixed(1)} and PostgreSQL ${meter.idle.postgres.toFixed(1)} ms a second; this is subtracted.\n`,
  )
  write('| request | Node | PostgreSQL | together | target | statements | round trips | rows | buffers |')
  write(`|---|${'---:|'.repeat(8)}`)
  for (const row of rows.filter(({ name }) => pattern.test(name))) await measureRow(row, client, meter, state)
  if (!process.env.KEEP) return
  write(`\nThe server runs at http://127.0.0.1:${belfry.port} (token of its admin: ${belfry.token}), its database at:`)
  write(`psql "host=${socket} user=belfry dbname=belfry"\nTo stop it, send SIGINT to ${process.pid}.`)
  await once(process, 'SIGINT')
}

/** While the server runs, because a server that starts with repositories first checks their folders, which these have not. */
async function seed(connection: ClientConfig) {
  await using db = new Database(connection, systemClock)
  await db.withBackgroundTimeouts(() => seedCold(db))
}

interface RareClient extends AsyncDisposable {
  send(call: Call, headers?: Record<string, string>): Promise<{ status: number; etag: string | undefined }>
}

/** Kept-alive connections; requests one after the other use the same one. */
function openClient(belfry: RunningBelfry): RareClient {
  const client = new Pool(`http://127.0.0.1:${belfry.port}`, { connections: 32 })
  return {
    async send({ method, path, token, body }, headers = {}) {
      const answer = await client.request({
        ...{ method, path: `/api/v3${path}`, body: body ? JSON.stringify(body) : null },
        headers: { ...headers, ...(token && { authorization: `Bearer ${token}` }) },
      })
      const text = await answer.body.text()
      if (answer.statusCode >= 400) throw new Error(`${method} ${path} gave ${answer.statusCode}: ${text}`)
      const { etag } = answer.headers
      return { status: answer.statusCode, etag: typeof etag === 'string' ? etag : undefined }
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

async function unreadThreads(meter: Meter) {
  const listed = await meter.rows<{ login: string; ids: string[] }>(`
    select a.login, array_agg(t.id order by t.updated_at) as ids
    from threads t join accounts a on a.id = t.user_id where t.unread group by a.login`)
  return new Map(listed.map(({ login, ids }) => [login, ids.map(Number)]))
}

/**
 * Only the process is warmed up, with addresses that no row asks for: code is compiled, statements are prepared. After 200 requests, V8
 * has optimized little: `GET /user` takes 1.2 ms in Node, after 1,000 it takes 0.8 to 0.9, and no less after 2,000.
 */
async function warm(client: RareClient, state: Changing) {
  const asked = askedElsewhere()
  for (let n = 0; n < warmUp; n++) {
    const row = rows[n % rows.length]
    // The second step lets every row ask for all of them, whatever the number of rows.
    const each = asked[(n + Math.floor(n / rows.length)) % asked.length]
    if (!row || !each) continue
    const calls = [row.call(each, state)].flat()
    for (const [index, { etag = '' }] of (await sendAll(client, calls)).entries())
      if (row.kind === 'poll') await client.send(calls[index] as Call, { 'if-none-match': etag })
  }
}

async function sendAll(client: RareClient, calls: Call[]) {
  const answers: { etag: string | undefined }[] = []
  for (const call of calls) answers.push(await client.send(call))
  return answers
}

async function pacedWrites(client: RareClient, calls: Call[]) {
  const begun = performance.now()
  for (const [index, call] of calls.entries()) {
    await sleep(Math.max(0, begun + (index * 1000) / writesPerSecond - performance.now()))
    await client.send(call)
  }
}

async function measureRow(row: Row, client: RareClient, meter: Meter, state: Changing) {
  if (process.env.STATEMENTS) await meter.forgetStatements()
  const used: Usage[] = []
  let requests = 0
  for (let round = 0; round < rounds; round++) {
    const asked = askedIn(round, row)
    const calls = asked.flatMap((each) => row.call(each, state))
    const headers = row.kind === 'poll' ? await validators(client, calls) : []
    if (row.kind !== 'write') {
      await pacedWrites(client, writesTo(row.kind === 'poll' ? askedElsewhere() : asked, state))
      await meter.settle()
    }
    const usage = await meter.measure(async () => {
      if (row.kind === 'write') return pacedWrites(client, calls)
      const rest = calls.entries()
      await Promise.all(
        Array.from({ length: row.at_once ?? 1 }, async () => {
          for (const [index, call] of rest) await ask(row, client, call, headers[index])
        }),
      )
    })
    requests += calls.length
    used.push(Object.fromEntries(Object.entries(usage).map(([name, total]) => [name, total / calls.length])) as never)
  }
  // The median, because another program that runs during a round also costs this one processor time.
  const each = (name: keyof Usage) => median(used.map((usage) => usage[name]))
  const [node, postgres] = [each('node'), each('postgres')]
  const verdict = judge(node + postgres, row.target === undefined ? undefined : { most: row.target })
  const times = [node, postgres, node + postgres].map((time) => time.toFixed(2))
  const counted = (['statements', 'trips', 'rows', 'buffers'] as const).map((name) => each(name).toFixed(1))
  write(`| ${[row.name, ...times, verdict, ...counted].join(' | ')} |`)
  note(`${row.name}: ms of processor time`, node + postgres)
  note(`${row.name}: ms of PostgreSQL`, postgres)
  note(`${row.name}: round trips`, each('trips'))
  if (process.env.STATEMENTS) await listStatements(meter, requests)
}

async function validators(client: RareClient, calls: Call[]): Promise<Record<string, string>[]> {
  return (await sendAll(client, calls)).map(({ etag = '' }) => ({ 'if-none-match': etag }))
}

async function ask(row: Row, client: RareClient, call: Call, headers?: Record<string, string>) {
  const { status } = await client.send(call, headers)
  if (status !== (row.kind === 'poll' ? 304 : 200)) throw new Error(`${row.name}: ${call.path} gave ${status}`)
}

async function listStatements(meter: Meter, requests: number) {
  write('')
  for (const { query, calls, milliseconds, rows, buffers } of await meter.statements()) {
    const each = [milliseconds, rows, buffers].map((total) => (total / calls).toFixed(2))
    write(
      `    ${(calls / requests).toFixed(2)} × ${each[0]} ms, ${each[1]} rows, ${each[2]} buffers: ${query.replaceAll(/\s+/g, ' ').slice(0, 220)}`,
    )
  }
  write('')
}

if (import.meta.main) {
  await measureCold(new RegExp(process.argv[2] ?? ''))
  conclude()
}
