import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { childrenOf, commandOf, freePort, until } from '#test/machine.ts'
import { type BelfryProcess, Host, newToken, openDatabase } from '#test/process.ts'

test('two nodes that start at once on an empty database migrate it once, and start no PostgreSQL of their own', async () => {
  await using host = await Host.open()
  await using database = await openDatabase({ empty: true })
  const settings = { DATABASE_URL: database.url }
  const nodes = await Promise.all([host.start({ settings }), host.start({ settings })])

  const applied = await database.query('select name from migrations order by name')
  const files = readdirSync(join(import.meta.dirname, '..', '..', 'migrations'))
  assert.deepEqual(
    applied.map(({ name }) => name),
    files.filter((name) => name.endsWith('.sql')).sort(),
  )
  assert.equal(nodes.filter((node) => node.admin.token).length, 1, 'one of them made the admin, and tells of it')
  const token = nodes.map((node) => node.admin.token).join('')
  for (const node of nodes) {
    assert.equal((await node.get('/api/v3/user', token)).status, 200)
    assert.match(node.stdout, /the PostgreSQL server in DATABASE_URL/)
    const children = childrenOf(node.pid).map(commandOf)
    assert.ok(!children.some((command) => /postgres/.test(command)), children.join('\n'))
    assert.equal(await node.stop(), '0')
  }
  // The log comes by another way than the screen, and may come later.
  assert.equal(nodes.flatMap((node) => node.logged).filter(({ msg }) => msg === 'migrated').length, 1)
  assert.ok(!existsSync(host.cluster))
})

test('a database that is newer than the program is refused in one line', async () => {
  await using host = await Host.open()
  await using database = await openDatabase()
  await database.query("insert into migrations (name) values ('9999_from_tomorrow.sql')")
  const refusal = await host.refusal({ DATABASE_URL: database.url })
  assert.match(refusal, /^The database is newer than this Belfry \(it has 9999_from_tomorrow\.sql\)\. /)
})

test('a DATABASE_URL that cannot be used is refused in one line, without the password', async () => {
  await using host = await Host.open()
  const port = await freePort()
  const urls = [
    `postgres://belfry:hunter2secret@127.0.0.1:${port}/belfry`,
    `postgres://belfry:hunter2secret@localhost:${port}/belfry`,
    'postgres://belfry:hunter2secret@no-such-host.invalid/belfry',
    'postgres://belfry:hunter2secret%zz@127.0.0.1/belfry',
    'postgres://belfry:hunter2secret@127.0.0.1/belfry?sslmode=verify-full&sslrootcert=/nowhere',
    'mysql://belfry:hunter2secret@127.0.0.1/belfry',
  ]
  for (const refusal of await Promise.all(urls.map((DATABASE_URL) => host.refusal({ DATABASE_URL })))) {
    assert.match(
      refusal,
      /^(Cannot connect to the PostgreSQL server in DATABASE_URL: .+|DATABASE_URL is set to a value that is not allowed: .+)\.$/,
    )
    assert.doesNotMatch(refusal, /hunter2secret/)
  }
})

test('a database in which Belfry may make no tables is refused in one line', async () => {
  await using host = await Host.open()
  await using database = await openDatabase({ empty: true })
  const name = `guest_${Date.now()}`
  await database.query(`create role ${name}; grant ${name} to current_user; grant usage on schema public to public`)
  try {
    const url = `${database.url}?options=${encodeURIComponent(`-c role=${name}`)}`
    assert.match(await host.refusal({ DATABASE_URL: url }), /^Belfry may not set up the database: permission denied for .+$/)
  } finally {
    await database.query(`drop owned by ${name}; drop role ${name}`)
  }
})

test('a web node runs no jobs and a worker node answers no requests; together they do both', async () => {
  await using host = await Host.open()
  await using database = await openDatabase()
  const settings = { DATABASE_URL: database.url, BELFRY_ADMIN_TOKEN: newToken() }
  const web = await host.start({ settings: { ...settings, BELFRY_ROLES: 'web,git,api' } })
  const fork = await forkSomething(web, settings.BELFRY_ADMIN_TOKEN)
  const jobs = () => database.query('select attempts, locked_at from graphile_worker.jobs')
  assert.deepEqual(await jobs(), [{ attempts: 0, locked_at: null }])
  assert.equal(repositoriesOnDisk(host).includes(`${fork}.git`), false)

  const port = `${await freePort()}`
  const ready = /^Belfry is ready: worker only$/m
  const worker = await host.start({ settings: { ...settings, BELFRY_ROLES: 'worker', BELFRY_PORT: port }, ready })
  assert.doesNotMatch(worker.stdout, /https?:/)
  for (const address of [`http://127.0.0.1:${port}/`, `${worker.versioned}/`]) {
    await assert.rejects(fetch(address), (error: Error) => (error.cause as { code: string }).code === 'ECONNREFUSED')
  }
  await until('the job is done', async () => (await jobs()).length === 0)
  assert.ok(repositoriesOnDisk(host).includes(`${fork}.git`))
  assert.equal(await worker.stop(), '0')
})

test('nodes with other roles answer only what they serve', async () => {
  await using host = await Host.open()
  await using database = await openDatabase()
  const settings = { DATABASE_URL: database.url, BELFRY_ADMIN_TOKEN: newToken() }
  const roles = ['web', 'git', 'api'] as const
  const nodes = await Promise.all(roles.map((role) => host.start({ settings: { ...settings, BELFRY_ROLES: role } })))
  const [web, , api] = nodes as [BelfryProcess, BelfryProcess, BelfryProcess]
  const made = await api.post('/api/v3/user/repos', settings.BELFRY_ADMIN_TOKEN, { name: 'engine', auto_init: true })
  assert.equal(made.status, 201)
  const paths = {
    web: '/admin/engine',
    git: '/admin/engine.git/info/refs?service=git-upload-pack',
    api: '/api/v3/repos/admin/engine',
  }
  for (const [place, node] of nodes.entries()) {
    const served = await Promise.all(roles.map(async (role) => (await node.get(paths[role])).status))
    assert.deepEqual(
      served,
      roles.map((_, other) => (other === place ? 200 : 421)),
    )
    assert.equal((await node.get('/readyz')).status, 200)
    assert.equal((await fetch(`${node.versioned}/`)).status, roles[place] === 'api' ? 200 : 421)
  }
  const { message } = await (await web.get(paths.api)).json()
  assert.equal(message, 'This node does not serve this address: its BELFRY_ROLES are web, without api.')
})

test('a node outlives a database that closes its sessions, even while its worker looks for its first job', async () => {
  await using host = await Host.open()
  await using database = await openDatabase()
  const token = newToken()
  const rival = await database.connect()
  try {
    // What a worker looks up first is out of its reach, so that the cut finds it there.
    await rival.query('begin; lock table graphile_worker._private_tasks')
    const node = await host.start({ settings: { DATABASE_URL: database.url, BELFRY_ADMIN_TOKEN: token } })
    const sessions = "from pg_stat_activity where datname = current_database() and application_name = 'belfry'"
    const waiting = `select ${sessions} and wait_event_type = 'Lock'`
    await until('the worker waits', async () => (await database.query(waiting)).length > 0)
    await database.query(`select pg_terminate_backend(pid) ${sessions}`)
    await rival.query('rollback')
    await until('it answers again', async () => (await node.get('/api/v3/user', token)).status === 200)
    await forkSomething(node, token)
    await until('it runs jobs again', async () => (await database.query('select from graphile_worker.jobs')).length === 0)
    assert.equal(await node.stop(), '0')
  } finally {
    await rival.end()
  }
})

/** Gives the id of the fork, whose contents a job is to copy. */
async function forkSomething(node: BelfryProcess, admin: string) {
  const made = async (path: string, token: string, body: object) => {
    const answer = await node.post(`/api/v3${path}`, token, body)
    assert.ok(answer.ok, `${path}: ${answer.status}`)
    return (await answer.json()) as { id: number; token: string }
  }
  await made('/admin/users', admin, { login: 'ben', email: 'ben@example.com' })
  const { token } = await made('/admin/users/ben/authorizations', admin, { scopes: ['repo'] })
  await made('/user/repos', admin, { name: 'engine', auto_init: true })
  return (await made('/repos/admin/engine/forks', token, {})).id
}

function repositoriesOnDisk({ data }: Host) {
  return readdirSync(join(data, 'repositories'), { recursive: true }).map((path) => `${path}`.split('/').at(-1))
}
