import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { identityOf } from '#platform/processes.ts'
import { childrenOf, isListed, kill, processesIn, until } from '#test/machine.ts'
import { type BelfryProcess, Host } from '#test/process.ts'

test('when Belfry alone is killed, the next start stops the PostgreSQL it left and goes on', async () => {
  await using host = await Host.openUsed()
  const first = await host.start()
  const orphan = host.postmaster
  first.kill('SIGKILL')
  await first.ended()
  assert.ok(identityOf(orphan))

  const second = await host.start()
  assert.equal(identityOf(orphan), undefined)
  assert.notEqual(host.postmaster, orphan)
  assert.equal((await second.get('/api/v3/user', host.token)).status, 200)
})

test('pid files whose ids belong to somebody else by now hinder no start, and that somebody lives on', async () => {
  await using host = await Host.openUsed()
  const first = await host.start()
  const lock = join(host.data, 'socket', '.s.PGSQL.5432.lock')
  const files = [join(host.cluster, 'postmaster.pid'), lock]
  const contents = files.map((file) => readFileSync(file, 'utf8'))
  await killAll(host, first)

  // PostgreSQL takes a process of another account for no rival: this one runs under its own.
  const { uid, gid } = statSync(host.cluster)
  const stranger = spawn('sleep', ['600'], { stdio: 'ignore', ...(process.getuid?.() === 0 && { uid, gid }) })
  try {
    for (const [index, file] of files.entries()) {
      writeFileSync(file, contents[index]?.replace(/^\d+/, `${stranger.pid}`) ?? '')
      chownSync(file, uid, gid)
    }
    writeFileSync(join(host.data, 'belfry.pid'), `${stranger.pid} 1`)
    const second = await host.start()
    assert.equal((await second.get('/api/v3/user', host.token)).status, 200)
    assert.equal(stranger.exitCode ?? stranger.signalCode, null)
  } finally {
    stranger.kill('SIGKILL')
    await once(stranger, 'exit')
  }
})

test('sessions that outlive their PostgreSQL are waited for before anyone touches their files', async () => {
  await using host = await Host.openUsed()
  const first = await host.start()
  const postmaster = host.postmaster
  const session = childrenOf(postmaster).find((pid) => /belfry belfry/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))) ?? 0
  assert.ok(session)
  process.kill(session, 'SIGSTOP')
  kill(postmaster, 'SIGKILL')
  kill(first.pid, 'SIGKILL')
  await first.ended()

  const second = await host.launch({ settings: { BELFRY_LOG: 'debug' } })
  await until('it finds the memory in use', () => second.stderr.includes('pre-existing shared memory block'))
  assert.equal(second.stdout, '')
  kill(session, 'SIGKILL')
  await until('it starts', () => second.web !== '')
  assert.equal((await second.get('/api/v3/user', host.token)).status, 200)
})

test('a process that has ended, and that its parent has not noticed, is none that runs', async () => {
  // After exec, the shell's child is the child of a program that never asks for its fate.
  const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 600'], { stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const [pid] = (await once(parent.stdout.setEncoding('utf8'), 'data')) as [string]
    await until('it is seen to have ended', () => identityOf(parseInt(pid, 10)) === undefined)
    assert.ok(isListed(parseInt(pid, 10)), 'the system still lists it')
  } finally {
    parent.kill('SIGKILL')
  }
})

test('of several that find the claim of a killed one at the same moment, only one starts', async () => {
  await using host = await Host.openUsed()
  writeFileSync(join(host.data, 'belfry.pid'), '999999999 1')
  const rivals = await Promise.all([host.launch(), host.launch(), host.launch()])
  const ready = () => rivals.filter((belfry) => belfry.web)
  await until('all is decided', () => rivals.every((belfry) => belfry.web || belfry.end))
  assert.equal(ready().length, 1)
  for (const loser of rivals.filter((belfry) => belfry.end)) {
    assert.equal(loser.end, '1')
    assert.match(loser.stderr, /^(Belfry is already running on|Another Belfry was starting on) .*\n$/)
  }
  assert.equal((await ready()[0]?.get('/readyz'))?.status, 200)
})

test('kill -9 during writes loses no write that was acknowledged', async () => {
  await using host = await Host.openUsed()
  const first = await host.start()
  const acknowledged: string[] = []
  const write = async (client: number) => {
    for (let turn = 0; ; turn++) {
      const name = `written-${client}-${turn}`
      const answer = await first.post('/api/v3/user/repos', host.token, { name }).catch(() => undefined)
      if (!answer) return
      if (answer.status === 201) acknowledged.push(name)
      // Nothing but the kill may end the loop.
      else if (!first.end) assert.fail(`a write was refused: ${answer.status}`)
      else return
    }
  }
  const writers = Array.from({ length: 8 }, (_, client) => write(client))
  await until('writes are under way', () => acknowledged.length >= 40)
  await killAll(host, first)
  await Promise.all(writers)

  const second = await host.start()
  const there = new Set<string>()
  for (let page = 1; ; page++) {
    const answer = await second.get(`/api/v3/user/repos?per_page=100&page=${page}`, host.token)
    const names = ((await answer.json()) as { name: string }[]).map(({ name }) => name)
    for (const name of names) there.add(name)
    if (names.length < 100) break
  }
  assert.deepEqual(
    acknowledged.filter((name) => !there.has(name)),
    [],
  )
  assert.equal((await second.post('/api/v3/user/repos', host.token, { name: 'afterwards' })).status, 201)
})

test('a job that was in hand when Belfry was killed is taken up again', async () => {
  await using host = await Host.openUsed()
  const first = await host.start({ settings: { BELFRY_ROLES: 'web' } })
  await host.query("select graphile_worker.add_job('erase_repository', '{ \"repo_id\": 4711 }')")
  await host.query("update graphile_worker._private_jobs set locked_at = now(), locked_by = 'killed', attempts = 1")
  await killAll(host, first)
  await host.start()
  await until('the job is done', async () => (await host.query('select from graphile_worker.jobs')).length === 0)
})

test('when PostgreSQL dies, Belfry says so and starts it again, and answers all the while', async () => {
  await using host = await Host.openUsed()
  const belfry = await host.start()
  const before = host.postmaster
  kill(before, 'SIGKILL')
  const statuses = new Set<number>()
  await until('it works again', async () => {
    const { status } = await belfry.post('/api/v3/user/repos', host.token, { name: `made-${statuses.size}` })
    statuses.add(status)
    return status === 201 && host.postmaster !== before
  })
  assert.deepEqual(
    [...statuses].filter((status) => status !== 201).filter((status) => status !== 503),
    [],
  )
  assert.match(belfry.stderr, /the embedded PostgreSQL ended by itself: starting it again/)
  assert.equal(await belfry.stop(), '0')
  assert.deepEqual(processesIn(host.cluster), [])
})

/** Belfry first, so that it has no time to notice; then PostgreSQL and all its sessions. */
async function killAll(host: Host, belfry: BelfryProcess) {
  const processes = processesIn(host.cluster)
  assert.ok(processes.includes(host.postmaster))
  for (const pid of [belfry.pid, ...processes]) kill(pid, 'SIGKILL')
  await belfry.ended()
  await until('PostgreSQL is gone', () => processesIn(host.cluster).length === 0)
  assert.ok(existsSync(join(host.cluster, 'postmaster.pid')))
}
