import assert from 'node:assert/strict'
import { globSync, readFileSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { connectBelfry, type Seed, type World } from 'belfry/testing'
import pg from 'pg'
import { openLog } from '#platform/log.ts'
import { Desk } from '#test/git.ts'
import { until } from '#test/machine.ts'
import { Cluster } from '#testing/server/cluster.ts'
import { TestServer } from '#testing/server/test-server.ts'

let receiver: Server
let cluster: Cluster
let server: TestServer
let world: World
let desk: Desk

const noon = '2026-06-01T12:00:00Z'

/** What the process of a node writes when it starts. */
const ofWorkers = /^(workers|senders|graphile_worker\.|seeded\.)/

const seedWith = (url: string): Seed => ({
  users: [{ login: 'alice', password: 'correct horse battery' }, { login: 'bob', follows: ['alice'] }, { login: 'carol' }],
  organizations: [{ login: 'acme', owners: ['alice'], members: ['bob'] }],
  repositories: [
    {
      name: 'alice/tower',
      files: { 'README.md': '# Tower', 'src/bell.js': 'ring()' },
      commits: [{ message: 'Ring twice', branch: 'twice', author: 'bob', files: { 'src/bell.js': 'ring(2)' } }],
      labels: [{ name: 'bug', color: 'd73a4a' }],
      issues: [{ title: 'The bell is silent', author: 'bob', labels: ['bug'], comments: [{ author: 'alice', body: 'Really?' }] }],
      pull_requests: [{ title: 'Ring twice', author: 'alice', head: 'twice' }],
      watchers: ['bob'],
      stargazers: ['bob'],
      hooks: [{ url, events: ['issues', 'push'] }],
    },
    { name: 'acme/rocket', private: true, files: { 'README.md': '# Rocket' } },
  ],
})

// In a suite, because files share a process and hooks outside of one are for all of them.
describe('a world that is put back', () => {
  before(async () => {
    receiver = createServer((_, response) => response.end())
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const log = openLog('error')
    cluster = await Cluster.open(log)
    const seed = seedWith(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`)
    server = await TestServer.open(cluster, log, { seed, clock: noon, settings: { BELFRY_RATE_LIMIT: 'on' } })
    world = await connectBelfry(server.access.control)
    desk = await Desk.open({ web: world.url })
  })
  after(async () => {
    await desk[Symbol.asyncDispose]()
    await server.close()
    await cluster[Symbol.asyncDispose]()
    receiver.closeAllConnections()
    receiver.close()
  })

  test('has the rows, sequences and files of the seed, and answers as a new one', async () => {
    const seeded = await stateOf('template_1')
    const told = await tell(world)
    for (let round = 0; round < 2; round++) {
      await world.reset()
      await disturb(world)
      await world.reset()
      assert.deepEqual(await stateOf('world_1_1'), seeded)
      assert.deepEqual(await tell(world), told)
    }
    assert.deepEqual(await worldDatabases(), ['world_1_1'])
  })

  test('a stream ends with the state that it shows, and the next one begins', async () => {
    const follow = () => ask(world, 'alice', 'GET', '/repos/alice/tower/events', undefined, { accept: 'text/event-stream' })
    const followed = await follow()
    await ask(world, 'alice', 'POST', '/repos/alice/tower/issues', { title: 'before' })
    await world.reset()
    if (followed.body) await text(followed.body)
    const next = await follow()
    assert.equal(next.status, 200)
    await ask(world, 'alice', 'POST', '/repos/alice/tower/issues', { title: 'after' })
    const reader = next.body?.pipeThrough(new TextDecoderStream()).getReader()
    let seen = ''
    while (!seen.includes('IssuesEvent')) seen += (await reader?.read())?.value ?? assert.fail('the stream ended')
    assert.ok(seen.includes('"after"') && !seen.includes('"before"'))
    await reader?.cancel()
    await world.reset()
    assert.deepEqual(await worldDatabases(), ['world_1_1'])
  })

  test('pages have no commit of the state before', async () => {
    const written = { message: 'Add c', content: 'Yw==' }
    const { commit } = (await (await ask(world, 'alice', 'PUT', '/repos/alice/tower/contents/c.txt', written)).json()) as Written
    const show = async () => (await ask(world, null, 'GET', `${world.url}/alice/tower/tree/${commit.sha}`)).status
    assert.equal(await show(), 200)
    await world.reset()
    assert.equal(await show(), 404)
  })

  test('a request that does not end belongs to the state before, which another takes the place of', async () => {
    const { hostname, port } = new URL(world.url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    const authorization = `authorization: Bearer ${world.users.alice?.token}`
    socket.write(`POST /api/v3/user/repos HTTP/1.1\r\nhost: x\r\n${authorization}\r\ncontent-length: 15\r\n\r\n{`)
    await until('it has arrived', async () => (await world.requests.count()) === 1)
    await world.reset()
    socket.destroy()
    assert.ok((await worldDatabases()).includes('world_1_2'))
    assert.equal((await ask(world, 'alice', 'GET', '/repos/alice/tower')).status, 200)
    await until('the state before is removed', async () => !(await worldDatabases()).includes('world_1_1'))
  })
})

function ask(at: World, login: string | null, method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const authorization: Record<string, string> = login === null ? {} : { authorization: `Bearer ${at.users[login]?.token}` }
  const address = path.startsWith('http') ? path : `${at.url}/api/v3${path}`
  return fetch(address, { method, headers: { ...authorization, ...headers }, ...(body && { body: JSON.stringify(body) }) })
}

/** Changes all kinds of things, and lets the process remember them. */
async function disturb(at: World) {
  await at.clock.set('2027-02-03T04:05:06Z')
  const alice = async (method: string, path: string, body?: object) => {
    const response = await ask(at, 'alice', method, path, body)
    assert.ok(response.status < 300, `${method} ${path}: ${response.status} ${await response.clone().text()}`)
    return response
  }
  await look(async (...asked) => (await ask(at, ...asked)).headers.get('etag') ?? '', at)
  const work = await desk.clone({ login: 'alice', token: at.users.alice?.token ?? '' }, 'alice/tower')
  await work.git('checkout', '--quiet', '-b', 'pushed')
  await work.git('commit', '--quiet', '--allow-empty', '--message', 'pushed')
  await work.git('push', '--quiet', 'origin', 'pushed')
  await alice('PATCH', '/repos/alice/tower/issues/1', { title: 'The bell rings', state: 'closed' })
  await alice('POST', '/repos/alice/tower/issues/1/comments', { body: 'It is @carol' })
  await alice('DELETE', '/repos/alice/tower/labels/bug')
  await alice('PUT', '/repos/alice/tower/collaborators/carol', { permission: 'push' })
  await alice('PUT', '/notifications', {})
  await alice('PUT', '/user/starred/alice/tower')
  await alice('PUT', '/repos/alice/tower/pulls/2/merge', {})
  await alice('PATCH', '/user', { name: 'Somebody else' })
  await alice('POST', '/user/repos', { name: 'spire', auto_init: true })
  await alice('DELETE', '/repos/acme/rocket')
  await alice('PATCH', '/repos/alice/tower', { name: 'steeple', private: true })
  await ask(at, 'admin', 'PUT', '/users/bob/suspended')
  await ask(at, 'bob', 'GET', '/user')
  await ask(at, null, 'GET', `${at.url}/alice`)
  await at.deliveries.settled()
}

type Say = (...asked: Tail<Parameters<typeof ask>>) => Promise<string>

/** A story whose every answer is the same in each world that has the seed: ids, dates, validators and limits included. */
async function tell(at: World): Promise<unknown[]> {
  const told: unknown[] = []
  const say: Say = async (...asked) => {
    const response = await ask(at, ...asked)
    const headers = shown.map((name) => response.headers.get(name))
    told.push({ asked, status: response.status, headers, body: readBody(await response.text()) })
    return response.headers.get('etag') ?? ''
  }
  await look(say, at)
  await say('alice', 'POST', '/repos/alice/tower/issues', { title: 'A crack', body: 'See #1, @bob' })
  await say('bob', 'POST', '/repos/alice/tower/issues/3/comments', { body: 'Where?' })
  await say('carol', 'PUT', '/user/starred/alice/tower')
  await say('alice', 'PUT', '/repos/alice/tower/contents/b.txt', { message: 'Add b', content: 'Yg==' })
  await say('alice', 'POST', '/user/repos', { name: 'belfry', auto_init: true })
  told.push((await at.deliveries.settled()).map(({ id, event, action, status_code }) => ({ id, event, action, status_code })))
  await look(say, at)
  return told
}

const shown = ['etag', 'last-modified', 'link', 'x-ratelimit-remaining', 'x-ratelimit-used', 'x-poll-interval']

const lists = ['events', 'issues?state=all', 'pulls/2', 'branches', 'labels', 'hooks', 'commits'].map(
  (name) => `/repos/alice/tower/${name}`,
)

async function look(say: Say, at: World) {
  for (const path of [
    '/user',
    '/repos/alice/tower',
    '/repos/acme/rocket',
    '/notifications?all=true',
    '/user/starred',
    ...lists,
  ]) {
    const etag = await say('alice', 'GET', path)
    await say('alice', 'GET', path, undefined, { 'if-none-match': etag })
  }
  for (const path of ['/repos/alice/tower', '/repos/acme/rocket', '/users/bob/received_events', '/search/issues?q=bell'])
    await say('bob', 'GET', path)
  await say('alice', 'GET', `${at.versionedUrl}/repos/alice/tower`)
  for (const page of ['/alice/tower/issues/1', '/alice']) await say(null, 'GET', `${at.url}${page}`)
}

interface Written {
  commit: { sha: string }
}

type Tail<T extends unknown[]> = T extends [unknown, ...infer Rest] ? Rest : never

/** Pages have tokens and the time of their making. */
function readBody(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body.startsWith('<') ? /<title>.*<\/title>/s.exec(body)?.[0] : body
  }
}

async function worldDatabases() {
  const { rows } = await query<{ datname: string }>('postgres', `select datname from pg_database where datname ~ '^world_1_'`)
  return rows.map(({ datname }) => datname)
}

/** All rows and sequences of a database, and all files that belong to it. */
async function stateOf(database: string) {
  const { rows: tables } = await query<{ name: string; counts: boolean }>(
    database,
    `select c.oid::regclass::text as name, c.relkind = 'S' as counts from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'S') and n.nspname !~ '^pg_|information_schema' order by 1`,
  )
  const state: Record<string, unknown> = {}
  for (const { name, counts } of tables.filter(({ name }) => !ofWorkers.test(name))) {
    const { rows } = await query<{ t: string }>(
      database,
      `select ${counts ? `last_value || ' ' || is_called` : 't::text'} as t from ${name} t order by 1`,
    )
    // A partition without rows shows nothing.
    if (rows.length) state[name] = rows.map(({ t }) => t)
  }
  const folder = join(cluster.folder, database)
  for (const file of globSync('**/*', { cwd: folder }).sort())
    if (statSync(join(folder, file)).isFile()) state[file] = readFileSync(join(folder, file), 'latin1')
  return state
}

async function query<R extends pg.QueryResultRow>(database: string, statement: string) {
  const client = new pg.Client(cluster.connectionTo(database) as pg.ClientConfig)
  await client.connect()
  try {
    return await client.query<R>(statement)
  } finally {
    await client.end()
  }
}
