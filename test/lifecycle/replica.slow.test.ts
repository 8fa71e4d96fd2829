import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { expect, Person } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { type BelfryProcess, Host, newToken } from '#test/process.ts'
import { ReplicatedPostgres } from '#test/replicated-postgres.ts'

const repositories = Array.from({ length: 12 }, (_, index) => `quiet-${index}`)
let postgres: ReplicatedPostgres
let host: Host
let node: BelfryProcess
let admin: Person
const token = newToken()

const urlOf = ({ port }: { port: number }) => `postgres://belfry@127.0.0.1:${port}/belfry`

before(async () => {
  postgres = await ReplicatedPostgres.open()
  host = await Host.open()
  const settings = {
    DATABASE_URL: urlOf(postgres.primary),
    BELFRY_REPLICA_URL: urlOf(postgres.standby),
    BELFRY_ADMIN_TOKEN: token,
    BELFRY_PUBLIC_EVENTS_DELAY: '0',
  }
  node = await host.start({ settings })
  admin = new Person('admin', token, node)
  for (const name of ['busy', ...repositories]) await admin.owns(name)
})

after(async () => {
  await host[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

/** How often each outcome happened. */
async function countReads() {
  const text = await (await fetch(`${node.web}/metrics`)).text()
  const found = text.matchAll(/^belfry_replica_reads_total\{outcome="(\w+)"\} (\d+)$/gm)
  return Object.fromEntries([...found].map(([, outcome, count]) => [outcome, Number(count)])) as Record<string, number>
}

/** Which outcomes became more while `work` ran. */
async function outcomesOf(work: () => Promise<unknown>) {
  const before = await countReads()
  await work()
  const after = await countReads()
  return Object.keys(after).filter((outcome) => after[outcome] !== before[outcome])
}

const titlesOf = async (path: string) => {
  const events: { type: string; payload: { issue?: { title: string } } }[] = await expect(200, await admin.get(path))
  return events.flatMap(({ payload }) => payload.issue?.title ?? [])
}

async function untilReplayed() {
  const [{ lsn } = {}] = await postgres.query('select pg_current_wal_insert_lsn()::text as lsn')
  await until('the replica has replayed', async () => {
    const [row] = await postgres.queryStandby(`select pg_last_wal_replay_lsn() >= '${lsn}' as reached`)
    return row?.reached === true
  })
}

test('timelines, feeds and public lists are read from the replica', async () => {
  const paths = [
    'repos/admin/quiet-0/events',
    'users/admin/received_events',
    'repos/admin/quiet-1/stargazers',
    'users/admin/repos',
  ]
  for (const path of [...paths.map((path) => `/api/v3/${path}`), '/admin.atom']) {
    let asked = 0
    await until(`${path} is read from the replica`, async () => {
      await untilReplayed()
      // Another address each time, because a response is kept.
      const address = `${node.web}${path}?per_page=${++asked}`
      return (await outcomesOf(async () => assert.equal((await fetch(address)).status, 200))).includes('served')
    })
  }
})

test('readers see what they wrote, however far the replica is behind', async () => {
  for (let number = 1; number <= 20; number++) {
    const title = `written ${number}`
    await expect(201, await admin.post('/repos/admin/busy/issues', { title }))
    assert.equal((await titlesOf('/repos/admin/busy/events'))[0], title)
  }
  await untilReplayed()
  await postgres.queryStandby('select pg_wal_replay_pause()')
  try {
    await expect(201, await admin.post('/repos/admin/busy/issues', { title: 'while it is paused' }))
    assert.equal((await titlesOf('/repos/admin/busy/events'))[0], 'while it is paused')
    await expect(204, await admin.put('/user/starred/admin/quiet-2'))
    const [stargazer] = await expect(200, await admin.get('/repos/admin/quiet-2/stargazers'))
    assert.equal(stargazer.login, 'admin')
    assert.match(await (await fetch(`${node.web}/admin.atom`)).text(), /quiet-2/)
    // What did not change is right on the replica too.
    const outcomes = await outcomesOf(async () => expect(200, await admin.get('/repos/admin/quiet-3/events')))
    assert.deepEqual(outcomes, ['served'])
    await expect(204, await admin.delete('/repos/admin/quiet-3'))
    await expect(404, await admin.get('/repos/admin/quiet-3/events'))
    await expect(404, await admin.get('/repos/admin/quiet-3/stargazers'))
    await expect(201, await admin.post('/user/repos', { name: 'unknown-there' }))
    assert.equal((await admin.get('/repos/admin/unknown-there/events')).status, 200)
  } finally {
    await postgres.queryStandby('select pg_wal_replay_resume()')
  }
})

test('access that ended on the primary ends at once', async () => {
  await expect(201, await admin.post('/admin/users', { login: 'ben', email: 'ben@example.com' }))
  const bens = await expect(201, await admin.post('/admin/users/ben/authorizations', { scopes: ['repo'] }))
  const ben = new Person('ben', bens.token, node)
  await expect(201, await admin.post('/user/repos', { name: 'secret', private: true }))
  const { id } = await expect(201, await admin.put('/repos/admin/secret/collaborators/ben'))
  await expect(204, await ben.patch(`/user/repository_invitations/${id}`))
  await untilReplayed()
  await postgres.queryStandby('select pg_wal_replay_pause()')
  try {
    await expect(200, await ben.get('/repos/admin/secret/events'))
    await expect(204, await admin.delete('/repos/admin/secret/collaborators/ben'))
    await expect(404, await ben.get('/repos/admin/secret/events'))
    await expect(404, await ben.get('/repos/admin/secret/stargazers'))
  } finally {
    await postgres.queryStandby('select pg_wal_replay_resume()')
  }
})

test('a replica is read from once it has what the primary wrote since the start', async () => {
  await using other = await Host.open()
  await untilReplayed()
  await postgres.queryStandby('select pg_wal_replay_pause()')
  const settings = {
    DATABASE_URL: urlOf(postgres.primary),
    BELFRY_REPLICA_URL: urlOf(postgres.standby),
    BELFRY_ADMIN_TOKEN: token,
  }
  const second = await other.start({ settings }).finally(() => postgres.queryStandby('select pg_wal_replay_resume()'))
  let asked = 0
  await until('it is read from', async () => {
    assert.equal((await fetch(`${second.web}/api/v3/repos/admin/quiet-9/stargazers?per_page=${++asked}`)).status, 200)
    return /outcome="served"\} [1-9]/.test(await (await fetch(`${second.web}/metrics`)).text())
  })
})

test('without the replica, everything is read from the primary', async () => {
  await postgres.query("alter system set synchronous_standby_names = ''")
  await postgres.query('select pg_reload_conf()')
  await postgres.kill(postgres.standby)
  for (const name of repositories.slice(4, 8)) assert.equal((await admin.get(`/repos/admin/${name}/events`)).status, 200)
  await until('the log says so', () => node.stderr.includes('the replica does not answer'))
  await postgres.restart(postgres.standby)
  await until('the replica is used again', async () => {
    await untilReplayed()
    return (await outcomesOf(() => admin.get('/repos/admin/quiet-9/stargazers'))).includes('served')
  })
})

test('a server with other data is not read from', async () => {
  await using other = await Host.open()
  const settings = {
    DATABASE_URL: urlOf(postgres.primary),
    BELFRY_REPLICA_URL: urlOf(postgres.primary).replace(/belfry$/, 'postgres'),
  }
  const wrong = await other.start({ settings })
  assert.equal((await fetch(`${wrong.web}/api/v3/repos/admin/quiet-9/stargazers`)).status, 200)
  await until('the log says so', () => wrong.stderr.includes('is no standby of the one in DATABASE_URL'))
  const embedded = await other.launch({ settings: { BELFRY_REPLICA_URL: settings.DATABASE_URL } })
  await until('it ends', () => embedded.end !== undefined)
  assert.match(embedded.stderr, /BELFRY_REPLICA_URL needs DATABASE_URL/)
})

test('a replica that is promoted is read from no more, and readers see what they wrote', async () => {
  await using servers = await ReplicatedPostgres.open()
  await using other = await Host.open()
  const settings = {
    DATABASE_URL: servers.url,
    BELFRY_REPLICA_URL: urlOf(servers.standby),
    BELFRY_ADMIN_TOKEN: token,
  }
  const second = await other.start({ settings })
  const writer = new Person('admin', token, second)
  await writer.owns('engine')
  const write = async (title: string) => {
    const answer = await writer.post('/repos/admin/engine/issues', { title })
    await answer.arrayBuffer()
    if (answer.status !== 201) return false
    const [event] = await expect(200, await writer.get('/repos/admin/engine/events'))
    assert.equal(event.payload.issue.title, title)
    return true
  }
  assert.ok(await write('before'))
  await servers.promoteBeside()
  let written = 0
  await until('the log says so', async () => {
    await write(`after ${++written}`)
    return second.stderr.includes('the server in BELFRY_REPLICA_URL was promoted')
  })
})
