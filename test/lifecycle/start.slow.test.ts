import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { processesIn, until } from '#test/machine.ts'
import { Host } from '#test/process.ts'

const linux = process.platform === 'linux' ? {} : { skip: 'there is no /proc to look at processes' }

test('the first start prints one screen with addresses, folders and the admin; the second names no credentials', async () => {
  await using host = await Host.open()
  await mkdir(host.data, { mode: 0o755 })
  // A strict umask does not lock the database out of a folder that was there, which keeps its mode.
  const first = await host.start({ before: 'umask 077' })
  assert.equal(modeOf(host.data), '755')
  const { login, password, token } = first.admin
  for (const shown of [first.web, `${first.web}/api/v3`, first.versioned, host.data, host.cluster]) {
    assert.ok(first.stdout.includes(shown), `${shown} is not on the screen: ${first.stdout}`)
  }
  assert.equal(login, 'admin')
  assert.match(password, /^\w{20}$/)
  assert.match(token, /^bfp_\w{36}$/)
  assert.ok(first.stdout.split('\n').length <= 24, 'it fits a terminal of 24 lines')
  assert.match(first.stdout, /\nBelfry is ready: \S+\n$/)

  const basic = `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`
  for (const authorization of [`Bearer ${token}`, `token ${token}`, basic]) {
    const answer = await fetch(`${first.web}/api/v3/user`, { headers: { authorization } })
    assert.equal(answer.status, 200)
    assert.equal(((await answer.json()) as { login: string }).login, 'admin')
  }
  assert.equal((await fetch(`${first.web}/readyz`)).status, 200)
  assert.equal((await fetch(`${first.versioned}/readyz`)).status, 200)
  assert.equal(await first.stop(), '0')

  const second = await host.start()
  assert.deepEqual(second.admin, { login: '', password: '', token: '' })
  assert.ok(!second.stdout.includes(token) && !second.stdout.includes(password))
  assert.equal((await second.get('/api/v3/user', token)).status, 200)
})

test('a start with a bucket that cannot be used logs why, and succeeds', async () => {
  await using host = await Host.openUsed()
  const BELFRY_STORAGE_URL = 's3://key:hunter2@127.0.0.1:1/large-files?tls=off'
  const belfry = await host.start({ settings: { BELFRY_STORAGE_URL } })
  await until('the reason is logged', () => /"fault":"ECONNREFUSED","msg":"the storage of large files fails/.test(belfry.stderr))
  assert.ok(!`${belfry.stdout}${belfry.stderr}`.includes('hunter2'))
})

test('the embedded PostgreSQL is closed to others and writes to disk', async (t) => {
  await using host = await Host.openUsed()
  const first = await host.start()

  await t.test('it does not inherit how Node allocates', linux, () => {
    assert.doesNotMatch(readFileSync(`/proc/${host.postmaster}/environ`, 'latin1'), /MALLOC_ARENA_MAX/)
  })

  await t.test('it opens no port: only the two HTTP listeners do', linux, async () => {
    const listening = new Set(['tcp', 'tcp6'].flatMap((table) => listeningSockets(`/proc/net/${table}`)))
    const processes = processesIn(host.cluster)
    assert.ok(processes.includes(host.postmaster))
    assert.deepEqual(
      processes.flatMap(socketsOf).filter((inode) => listening.has(inode)),
      [],
    )
  })

  await t.test('it listens on a unix socket alone, with fsync on', async () => {
    const settings = await host.query("select name, setting from pg_settings where name in ('listen_addresses', 'fsync')")
    assert.deepEqual(Object.fromEntries(settings.map(({ name, setting }) => [name, setting])), {
      listen_addresses: '',
      fsync: 'on',
    })
  })

  await t.test('others may pass through the data folder, and enter neither database nor socket', () => {
    assert.equal(modeOf(host.data), '711')
    assert.equal(modeOf(host.cluster), '700')
    assert.equal(modeOf(join(host.data, 'socket')), '700')
    assert.equal(modeOf(join(host.data, 'socket', '.s.PGSQL.5432')), '700')
  })

  await t.test('a second Belfry on the same data folder says which process has it and exits 1; the first goes on', async () => {
    const second = await host.run()
    assert.equal(second.end, '1')
    assert.equal(second.stdout, '')
    assert.match(second.stderr, new RegExp(`^Belfry is already running on ${host.data} \\(process ${first.pid}\\)\\. .*\\n$`))
    assert.equal((await first.get('/readyz')).status, 200)
    assert.equal(await first.stop(), '0')
  })
})

test('a folder in the place of the database that is none is left alone', async () => {
  await using host = await Host.open()
  await mkdir(host.cluster, { recursive: true })
  await writeFile(join(host.cluster, 'letters'), 'dear Ada')
  assert.match(await host.refusal({}), /postgres is there already and holds no database: /)
  assert.equal(readFileSync(join(host.cluster, 'letters'), 'utf8'), 'dear Ada')
})

test('a data folder whose path is longer than a unix socket allows works, and its socket folder goes with it', async () => {
  await using host = await Host.openUsed()
  const { data } = host
  host.data = join(host.folder, ...Array.from({ length: 12 }, (_, depth) => `a-rather-long-name-${depth}`), 'data')
  await mkdir(dirname(host.data), { recursive: true })
  await rename(data, host.data)
  // In its temporary folder, or in /tmp if the path of that is too long as well.
  const places = [host.folder, '/tmp']
  const namesIn = (place: string) => readdirSync(place).filter((name) => /^belfry-[0-9a-f]{12}$/.test(name))
  const sockets = () => places.flatMap((place) => namesIn(place).map((name) => join(place, name)))
  const before = sockets()
  const belfry = await host.start()
  assert.equal((await belfry.get('/api/v3/user', host.token)).status, 200)
  const [folder = ''] = sockets().filter((path) => !before.includes(path))
  assert.equal(modeOf(folder), '700')
  assert.equal(await belfry.stop(), '0')
  assert.ok(!existsSync(folder))
})

function modeOf(path: string) {
  return (statSync(path).mode & 0o777).toString(8)
}

/** The inodes of sockets that listen (state 0A), of a table such as /proc/net/tcp. */
function listeningSockets(table: string) {
  const rows = readFileSync(table, 'utf8').split('\n').slice(1)
  return rows.map((row) => row.trim().split(/\s+/)).flatMap((fields) => (fields[3] === '0A' ? [fields[9]] : []))
}

function socketsOf(pid: number) {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? [])
}
