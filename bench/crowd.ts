import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { systemClock } from '#platform/clock.ts'
import { Database, sql } from '#platform/database.ts'
import { findLocation } from '#platform/postgres-location.ts'
import { makeFolder, type RunningBelfry, startBelfry } from './belfry.ts'
import { processorTimes } from './meter.ts'
import { judge, note, write } from './report.ts'

const people = Number(process.env.BENCH_POLLERS ?? 10_000)
const seconds = 60
const writesPerSecond = 50
const repositoriesEach = 7
const streams = Math.min(10_000, people)
const idleSeconds = 60

/** Many people at once: their polls, and their open streams. */
export async function measureCrowd() {
  using folder = makeFolder()
  await using belfry = await startBelfry(folder.path)
  const { cluster, socket } = findLocation(folder.path)
  await using db = new Database({ host: socket, user: 'belfry', database: 'belfry' }, systemClock)
  await db.withBackgroundTimeouts(() => seedCrowd(db))
  const postmaster = parseInt(readFileSync(join(cluster, 'postmaster.pid'), 'utf8'), 10)
  await measureStreams(belfry, db, postmaster)
  await measurePolls(belfry, postmaster)
}

/**
 * Everyone follows a timeline of their own, on which nothing happens; then stars are given elsewhere. Workers and senders look for work also
 * when there is no stream.
 */
async function measureStreams(belfry: RunningBelfry, db: Database, postmaster: number) {
  const pool = new Pool(`http://127.0.0.1:${belfry.port}`, { connections: 16 })
  await using _ = { [Symbol.asyncDispose]: () => pool.close() }
  const star = starElsewhere((address, method) => send(pool, address, method))
  const writes = () => paced(star, writesPerSecond, idleSeconds)
  const without = [await measureLoad(belfry, db, postmaster), await measureLoad(belfry, db, postmaster, writes)]
  const open: IncomingMessage[] = []
  for (let person = 1; person <= streams; person++) {
    const asked = request({
      ...{ port: belfry.port, path: `/api/v3/repos/poller-${person}/repo-${person}/events`, agent: false },
      // An address may have 200 streams.
      localAddress: `127.0.0.${Math.ceil(person / 150) + 1}`,
      headers: { accept: 'text/event-stream', authorization: `Bearer ${tokenOf(person)}` },
    }).end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    if (answer.statusCode !== 200) throw new Error(`a stream gave ${answer.statusCode}`)
    open.push(answer.resume())
  }
  // The looks after the last commit end.
  await sleep(10_000)
  const during = [await measureLoad(belfry, db, postmaster), await measureLoad(belfry, db, postmaster, writes)]
  for (const answer of open) answer.destroy()
  note('open streams: transactions a minute more than without', (during[0]?.[0] ?? 0) - (without[0]?.[0] ?? 0))
  write(`\n${streams} open streams, on which nothing happens\n`)
  write(
    '| | stars a second elsewhere | transactions a minute | Node, ms a second | PostgreSQL, ms a second |\n|---|---:|---:|---:|---:|',
  )
  for (const [index, stars] of [0, writesPerSecond].entries())
    for (const [name, found] of Object.entries({ 'no stream': without[index], [`${streams} streams`]: during[index] }))
      write(`| ${[name, stars, ...(found ?? []).map((each) => each.toFixed(1))].join(' | ')} |`)
}

async function measureLoad(belfry: RunningBelfry, db: Database, postmaster: number, work?: () => Promise<unknown>) {
  const [transactions, before] = [await countTransactions(db), processorTimes(belfry.pid, postmaster)]
  await Promise.all([sleep(idleSeconds * 1000), work?.()])
  const after = processorTimes(belfry.pid, postmaster)
  const made = (await countTransactions(db)) - transactions
  return [(made * 60) / idleSeconds, (after.node - before.node) / idleSeconds, (after.postgres - before.postgres) / idleSeconds]
}

async function countTransactions(db: Database) {
  // PostgreSQL reports what a session did after a second at the latest.
  await sleep(1500)
  const [found] = await db.rows<{ total: number }>(sql`
    select (xact_commit + xact_rollback)::float8 as total from pg_stat_database where datname = current_database()`)
  return found?.total ?? 0
}

/**
 * Everyone asks for ten addresses once a minute, with the ETag of the last response, while stars are given elsewhere at 50 a second. The
 * processor time of the same stars without polls is subtracted.
 */
async function measurePolls(belfry: RunningBelfry, postmaster: number) {
  const pool = new Pool(`http://127.0.0.1:${belfry.port}`, { connections: 64 })
  await using _ = { [Symbol.asyncDispose]: () => pool.close() }
  const ask = (address: Address, method?: Method) => send(pool, address, method)
  const addresses = Array.from({ length: people }, (_, index) => addressesOf(index + 1)).flat()
  const rest = addresses.values()
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      for (const address of rest) await ask(address)
    }),
  )
  const star = starElsewhere(ask)
  const statuses = new Map<number, number>()
  const next = shuffled(addresses).values()
  const poll = async () => {
    const { value } = next.next()
    if (!value) return
    const status = await ask(value)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  const used = async (work: Promise<unknown>[]) => {
    const before = processorTimes(belfry.pid, postmaster)
    await Promise.all(work)
    const after = processorTimes(belfry.pid, postmaster)
    return { node: after.node - before.node, postgres: after.postgres - before.postgres }
  }
  const alone = await used([paced(star, writesPerSecond, seconds / 3)])
  const both = await used([paced(star, writesPerSecond, seconds), paced(poll, (people * 10) / 60, seconds)])
  const polls = [...statuses.values()].reduce((sum, many) => sum + many, 0)
  const [node, postgres] = [(both.node - 3 * alone.node) / polls, (both.postgres - 3 * alone.postgres) / polls]
  const cores = ((node + postgres) * polls) / seconds / 1000
  note('polls of a crowd: cores', cores)
  write(`\n${people} people poll 10 addresses each once a minute, with ${writesPerSecond} stars a second elsewhere\n`)
  write('| polls a second | of them 304 | Node, ms | PostgreSQL, ms | cores | target |\n|---:|---:|---:|---:|---:|---:|')
  write(
    `| ${(polls / seconds).toFixed(0)} | ${(((statuses.get(304) ?? 0) / polls) * 100).toFixed(1)} % | ${node.toFixed(2)} | ${postgres.toFixed(2)} | ${cores.toFixed(2)} | ${judge(cores, { most: 0.25 })} |`,
  )
}

type Method = 'GET' | 'PUT' | 'DELETE'

async function send(pool: Pool, address: Address, method: Method = 'GET') {
  const { path, person, etag } = address
  const headers = { authorization: `Bearer ${tokenOf(person)}`, ...(etag && { 'if-none-match': etag }) }
  const { statusCode, headers: answered, body } = await pool.request({ method, path: `/api/v3${path}`, headers })
  await body.dump()
  if (statusCode >= 400) throw new Error(`${method} ${path} gave ${statusCode}`)
  address.etag = String(answered.etag)
  return statusCode
}

/** A star or the end of one in a repository that is not followed, at each call in another one. */
function starElsewhere(ask: (address: Address, method: Method) => Promise<unknown>) {
  let stars = 0
  return async () => {
    const number = (stars++ >> 1) % people
    await ask({ person: 0, path: `/user/starred/poller-${number + 1}/elsewhere-${number + 1}` }, stars % 2 ? 'PUT' : 'DELETE')
  }
}

interface Address {
  person: number
  path: string
  etag?: string
}

const tokenOf = (person: number) => `bfp_${`poller${person}`.padEnd(36, 'x')}`

/** Seven repositories, and what is the person's own. */
function addressesOf(person: number): Address[] {
  const repositories = Array.from({ length: repositoriesEach }, (_, step) => ((person + step * 37) % people) + 1)
  return [
    ...repositories.map((number) => `/repos/poller-${number}/repo-${number}/events`),
    `/users/poller-${person}/received_events`,
    `/users/poller-${person}/events`,
    '/notifications',
  ].map((path) => ({ person, path }))
}

/** In an order that has nothing to do with the order of the first requests, the same in every run. */
const shuffled = (addresses: Address[]) => addresses.map((_, index) => addresses[(index * 7919) % addresses.length] as Address)

/** Starts as many a second, however long one of them takes. */
async function paced(act: () => Promise<unknown>, perSecond: number, seconds: number) {
  const begun = performance.now()
  const running: Promise<unknown>[] = []
  for (let started = 0; started < perSecond * seconds; ) {
    const due = Math.min(((performance.now() - begun) / 1000) * perSecond, perSecond * seconds)
    for (; started < due; started++) running.push(act())
    await sleep(5)
  }
  await Promise.all(running)
}

async function seedCrowd(db: Database) {
  const now = sql`${db.now}::timestamptz`
  await db.query(sql`
    insert into accounts (type, login, email, created_at, updated_at)
    select 'User', 'poller-' || n, 'poller-' || n || '@example.com', ${now}, ${now} from generate_series(0, ${people}::int) n`)
  await db.query(sql`
    insert into tokens (user_id, digest, last_eight, note, scopes, last_used_at, created_at, updated_at)
    select a.id, sha256(convert_to(rpad('bfp_' || replace(a.login, '-', ''), 40, 'x'), 'UTF8')), 'xxxxxxxx', 'bench', '{repo,notifications}',
      ${now}, ${now}, ${now}
    from accounts a where a.login like 'poller-%'`)
  await db.query(sql`
    insert into repositories (owner_id, name, private, network_id, created_at, updated_at)
    select a.id, kind || substring(a.login from 7), false, 0, ${now}, ${now} from accounts a, unnest('{repo,elsewhere}'::text[]) kind
    where a.login like 'poller-%' and a.login <> 'poller-0'`)
  await db.query(sql`update repositories set network_id = id where network_id = 0`)
  await db.query(sql`
    insert into subscriptions (user_id, repo_id, created_at)
    select a.id, r.id, ${now} from generate_series(1, ${people}::int) n, generate_series(0, 4) step, accounts a, repositories r
    where a.login = 'poller-' || n and r.name = 'repo-' || ((n + step * 37) % ${people}::int + 1)`)
  await db.query(sql`
    select count(*) from repositories r, generate_series(1, 3) step, record_events(${now} - step * interval '1 day', r.owner_id, r.id,
      '[{"type":"WatchEvent","payload":{"action":"started"}}]') where r.name like 'repo-%'`)
  await db.query(sql`analyze`)
}
