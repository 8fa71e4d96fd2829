import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { systemClock } from '#platform/clock.ts'
import { Database, sql } from '#platform/database.ts'
import { findLocation } from '#platform/postgres-location.ts'
import { call, makeFolder, type RunningBelfry, startBelfry } from './belfry.ts'
import { judge, median, note, write } from './report.ts'
import { rawRequest } from './requests.ts'

const deliveries = Number(process.env.BENCH_DELIVERIES ?? 10_000)
const connections = 50
const stargazers = 20
const rounds = 3

/** From acts to deliveries that are recorded, against bare POSTs of the same bytes to the same receiver; and how long one takes. */
export async function compareWebhooks() {
  using folder = makeFolder()
  await using belfry = await startBelfry(folder.path)
  await using db = new Database({ host: findLocation(folder.path).socket, user: 'belfry', database: 'belfry' }, systemClock)
  await using sink = await startSink()
  const people = await signUp(belfry)
  write('\nActs to delivered and recorded webhooks, against bare POSTs of the same bytes to the same receiver, a second\n')
  write('| hooks | acts | deliveries | bare | ratio | target | rows | KB of log |\n|---:|---:|---:|---:|---:|---:|---:|---:|')
  for (const hooks of [1, 10, 100]) await compareRate(belfry, db, sink, people, hooks)
  await timeFirstByte(belfry, db, sink, people)
  await compareHanging(belfry, db, sink, people)
}

interface Sink extends AsyncDisposable {
  sink: number
  hole: number
  /** When each delivery since the last question came, by its guid. */
  arrivals(): Promise<Map<string, number>>
  /** Waits until so many have come since then. */
  receives(many: number): Promise<void>
}

async function startSink(): Promise<Sink> {
  const child = fork(join(import.meta.dirname, 'sink.ts'))
  const [ports] = (await once(child, 'message')) as [{ sink: number; hole: number }]
  const ask = async (question: 'arrivals' | 'count') => {
    child.send(question)
    return ((await once(child, 'message')) as unknown[])[0]
  }
  return {
    ...ports,
    async arrivals() {
      return new Map((await ask('arrivals')) as [string, number][])
    },
    async receives(many) {
      while (((await ask('count')) as number) < many) await sleep(10)
    },
    async [Symbol.asyncDispose]() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

async function signUp(belfry: RunningBelfry): Promise<string[]> {
  const logins = Array.from({ length: stargazers }, (_, n) => `stargazer-${n}`)
  return Promise.all(
    logins.map(async (login) => {
      await call(belfry, 'POST', '/admin/users', belfry.token, { login, email: `${login}@example.com` })
      const { token } = await call(belfry, 'POST', `/admin/users/${login}/authorizations`, belfry.token, { scopes: ['repo'] })
      return token
    }),
  )
}

/**
 * An organization of its own for each measurement, with so many hooks for stars, and a repository for each of those who act: they would
 * otherwise wait for each other to count their stars.
 */
async function makeOrganization(belfry: RunningBelfry, login: string, urls: string[]): Promise<string> {
  await call(belfry, 'POST', '/admin/organizations', belfry.token, { login, admin: 'admin' })
  for (let n = 0; n < stargazers; n++) await call(belfry, 'POST', `/orgs/${login}/repos`, belfry.token, { name: `repo-${n}` })
  for (const url of urls) {
    const config = { url, content_type: 'json', secret: 'a secret that signs' }
    await call(belfry, 'POST', `/orgs/${login}/hooks`, belfry.token, { name: 'web', config, events: ['star'] })
  }
  return `/user/starred/${login}/repo-`
}

const urlsOf = (port: number, hooks: number) => Array.from({ length: hooks }, (_, n) => `http://127.0.0.1:${port}/${n}`)

async function compareRate(belfry: RunningBelfry, db: Database, sink: Sink, people: string[], hooks: number) {
  const path = await makeOrganization(belfry, `rate-${hooks}`, urlsOf(sink.sink, hooks))
  const times = 2 * Math.ceil(deliveries / hooks / people.length / 2)
  const [acts, sent] = [times * people.length, times * people.length * hooks]
  await act(belfry, path, people, Math.ceil(times / 4), 0)
  await settled(db)
  const [ours, bare]: [number[], number[]] = [[], []]
  const before = await written(db)
  for (let round = 0; round < rounds; round++) {
    await sink.arrivals()
    const begun = performance.now()
    await act(belfry, path, people, times, 0)
    // The database is asked only when there is little left: to find nothing among what is done with takes it milliseconds.
    await sink.receives(sent)
    await settled(db)
    ours.push(sent / ((performance.now() - begun) / 1000))
    bare.push(await postBare(db, sink))
  }
  const after = await written(db)
  await sink.arrivals()
  const [rate, limit] = [median(ours), median(bare)]
  const [rows, kilobytes] = [after.rows - before.rows, (after.bytes - before.bytes) / 1024].map((all) => all / sent / rounds)
  note(`webhooks to ${hooks} hooks: ratio`, rate / limit)
  const verdict = judge(rate / limit, hooks === 100 ? { least: 0.3 } : undefined)
  const cells = [hooks, (rate * acts) / sent, rate, limit].map((number) => number.toFixed(0))
  write(`| ${cells.join(' | ')} | ${(rate / limit).toFixed(2)} | ${verdict} | ${rows?.toFixed(1)} | ${kilobytes?.toFixed(1)} |`)
}

/** Everyone stars and unstars in turn, each one request at a time, so many times; with a pause between, when it is given. */
async function act(belfry: RunningBelfry, path: string, people: string[], times: number, pause: number) {
  const even = times + (times % 2)
  await Promise.all(
    people.map(async (token, place) => {
      await using caller = await openCaller({ ...belfry, token }, path + place)
      if (pause) await sleep((pause * place) / people.length)
      for (let n = 0; n < even; n++) {
        const begun = performance.now()
        await caller(n % 2 ? 'DELETE' : 'PUT')
        if (pause) await sleep(Math.max(0, pause - (performance.now() - begun)))
      }
    }),
  )
}

/** Requests as bytes over one connection: what asks must not take the time of what is measured. */
async function openCaller(belfry: RunningBelfry, path: string) {
  const socket = connect(belfry.port, '127.0.0.1')
  await once(socket, 'connect')
  socket.setNoDelay(true)
  const bytes = (method: string) => Buffer.from(`${rawRequest(belfry, `/api/v3${path}`, { token: true, method })}\r\n`)
  const requests = { PUT: bytes('PUT'), DELETE: bytes('DELETE') }
  const caller = async (method: 'PUT' | 'DELETE') => {
    socket.write(requests[method])
    const [answer] = (await once(socket, 'data')) as [Buffer]
    if (answer.toString('latin1', 9, 12) !== '204') throw new Error(`an act was refused: ${answer}`)
  }
  return Object.assign(caller, {
    async [Symbol.asyncDispose]() {
      socket.destroy()
    },
  })
}

/** Nothing is left to be sent, but for the receiver that hangs. */
async function settled(db: Database) {
  const waiting = sql`select from pending_deliveries u join hooks h on h.id = u.hook_id where h.url not like '%/hang' limit 1`
  while (await db.first(waiting)) await sleep(10)
}

async function written(db: Database) {
  await db.query(sql`select pg_stat_force_next_flush()`)
  await sleep(1100)
  const row = await db.first<{ rows: number; bytes: number }>(sql`
    select (select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables)::float8 as rows, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes`)
  return { rows: row?.rows ?? 0, bytes: row?.bytes ?? 0 }
}

/** The same bytes and headers again and again, over as many connections. */
async function postBare(db: Database, { sink }: Sink): Promise<number> {
  const row = await db.first<{ body: string; headers: Record<string, string> }>(sql`
    select p.body, d.request_headers as headers from deliveries d join payloads p on p.id = d.payload_id order by d.id desc limit 1`)
  const body = Buffer.from(row?.body ?? '')
  const guid = crypto.randomUUID()
  const headers = { ...row?.headers, 'X-GitHub-Delivery': guid, 'X-Service-Delivery': guid, 'webhook-id': guid, accept: '*/*' }
  const pool = new Pool(`http://127.0.0.1:${sink}`, { connections })
  let left = deliveries
  const post = async () => {
    while (left-- > 0) await (await pool.request({ method: 'POST', path: '/', headers, body })).body.text()
  }
  await Promise.all(
    Array.from({ length: connections }, async () =>
      (await pool.request({ method: 'POST', path: '/', headers, body })).body.text(),
    ),
  )
  const begun = performance.now()
  await Promise.all(Array.from({ length: connections }, post))
  const seconds = (performance.now() - begun) / 1000
  await pool.close()
  return deliveries / seconds
}

/** A hundred acts a second to ten hooks. From when the act began, so that its commit is within. */
async function timeFirstByte(belfry: RunningBelfry, db: Database, sink: Sink, people: string[]) {
  const path = await makeOrganization(belfry, 'first-byte', urlsOf(sink.sink, 10))
  const times = await latencies(belfry, db, sink, people, path)
  write('\nFrom the beginning of an act to the first byte at its receivers, at 1,000 deliveries a second, in milliseconds\n')
  write('| median | target | 99th | target |\n|---:|---:|---:|---:|')
  const [half, nearly] = [median(times), hundredth(times)]
  note('an act to its receivers, median: ms', half)
  note('an act to its receivers, 99th percentile: ms', nearly)
  write(`| ${half.toFixed(1)} | ${judge(half, { most: 20 })} | ${nearly.toFixed(1)} | ${judge(nearly, { most: 200 })} |`)
}

async function latencies(belfry: RunningBelfry, db: Database, sink: Sink, people: string[], path: string) {
  await act(belfry, path, people, 10, 200)
  await settled(db)
  await sink.arrivals()
  await act(belfry, path, people, 50, 200)
  await settled(db)
  const arrivals = await sink.arrivals()
  const rows = await db.rows<{ guid: string; begun: Date }>(sql`
    select d.guid, p.created_at as begun from deliveries d join payloads p on p.id = d.payload_id where d.guid = any(${[...arrivals.keys()]}::uuid[])`)
  return rows.map(({ guid, begun }) => (arrivals.get(guid) ?? 0) - begun.getTime())
}

const hundredth = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0

/** Among a hundred receivers one hangs: what the others see of it. */
async function compareHanging(belfry: RunningBelfry, db: Database, sink: Sink, people: string[]) {
  const well = urlsOf(sink.sink, 99)
  const [calm, troubled]: number[][] = [[], []]
  const paths = [
    await makeOrganization(belfry, 'all-well', [...well, `http://127.0.0.1:${sink.sink}/last`]),
    await makeOrganization(belfry, 'one-hangs', [...well, `http://127.0.0.1:${sink.hole}/hang`]),
  ]
  for (let round = 0; round < 5; round++) {
    for (const [place, path] of paths.entries()) {
      const times = await latencies(belfry, db, sink, people.slice(0, 2), path)
      ;[calm, troubled][place]?.push(hundredth(times))
    }
  }
  const ratio = median(troubled ?? []) / median(calm ?? [])
  note('99th percentile when one of a hundred receivers hangs: ratio', ratio)
  write('\nThe 99th of a hundred of the same, in milliseconds, when all hundred receivers are well and when one of them hangs\n')
  write('| all well | one hangs | ratio | target |\n|---:|---:|---:|---:|')
  write(
    `| ${median(calm ?? []).toFixed(0)} | ${median(troubled ?? []).toFixed(0)} | ${ratio.toFixed(2)} | ${judge(ratio, { most: 1.1 })} |`,
  )
}
