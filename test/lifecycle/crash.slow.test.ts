import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { identityOf } from '#platform/processes.ts'
import { childrenOf, commandOf, commandsNow, isListed, kill, processesIn, until } from '#test/machine.ts'
import { type BelfryProcess, Host } from '#test/process.ts'

test('the next start goes on after a kill at any moment', async (t) => {
  await using host = await Host.openUsed()
  let belfry = await host.start()
  const isServed = async () => assert.equal((await belfry.get('/api/v3/user', host.token)).status, 200)

  await t.test('when Belfry alone is killed, its PostgreSQL ends', async () => {
    const postmaster = host.postmaster
    assert.equal(watchesOf(postmaster).length, 1)
    belfry.kill('SIGKILL')
    await belfry.ended()
    await until('PostgreSQL is gone', () => processesIn(host.cluster).length === 0)
    assert.equal(existsSync(join(host.cluster, 'postmaster.pid')), false, 'it has written everything to disk')
    await until('what ended it is gone', () => watchesOf(postmaster).length === 0)
    belfry = await host.start()
    await isServed()
  })

  await t.test('a start before that stops the PostgreSQL of the killed Belfry', async () => {
    const orphan = host.postmaster
    process.kill(orphan, 'SIGSTOP')
    belfry.kill('SIGKILL')
    await belfry.ended()
    belfry = await host.launch()
    await until('it finds the other', () => belfry.stderr.includes('stopping the PostgreSQL that an earlier run left'))
    process.kill(orphan, 'SIGCONT')
    await until('it starts', () => belfry.web !== '')
    assert.equal(identityOf(orphan), undefined)
    assert.notEqual(host.postmaster, orphan)
    await isServed()
  })

  await t.test('a process of another program that now has an id from a pid file does not prevent the start', async () => {
    const files = [join(host.cluster, 'postmaster.pid'), join(host.data, 'socket', '.s.PGSQL.5432.lock')]
    const contents = files.map((file) => readFileSync(file, 'utf8'))
    await killAll(host, belfry)
    // PostgreSQL does not take a process of another account for a rival: this one runs under its own.
    const { uid, gid } = statSync(host.cluster)
    const stranger = spawn('sleep', ['600'], { stdio: 'ignore', ...(process.getuid?.() === 0 && { uid, gid }) })
    try {
      for (const [index, file] of files.entries()) {
        writeFileSync(file, contents[index]?.replace(/^\d+/, `${stranger.pid}`) ?? '')
        chownSync(file, uid, gid)
      }
      writeFileSync(join(host.data, 'belfry.pid'), `${stranger.pid} 1`)
      belfry = await host.start()
      await isServed()
      assert.equal(stranger.exitCode ?? stranger.signalCode, null)
    } finally {
      stranger.kill('SIGKILL')
      await once(stranger, 'exit')
    }
  })

  await t.test('a start waits for sessions that outlive their PostgreSQL before it touches their files', async () => {
    const postmaster = host.postmaster
    const session = childrenOf(postmaster).find((pid) => /belfry belfry/.test(commandOf(pid))) ?? 0
    assert.ok(session)
    process.kill(session, 'SIGSTOP')
    kill(postmaster, 'SIGKILL')
    kill(belfry.pid, 'SIGKILL')
    await belfry.ended()
    belfry = await host.launch({ settings: { BELFRY_LOG: 'debug' } })
    await until('it finds the memory in use', () => belfry.stderr.includes('pre-existing shared memory block'))
    assert.equal(belfry.stdout, '')
    kill(session, 'SIGKILL')
    await until('it starts', () => belfry.web !== '')
    await isServed()
  })

  await t.test('no acknowledged write is lost, and an interrupted job runs again', async () => {
    const acknowledged: string[] = []
    const write = async (client: number) => {
      for (let turn = 0; ; turn++) {
        const name = `written-${client}-${turn}`
        const answer = await belfry.post('/api/v3/user/repos', host.token, { name }).catch(() => undefined)
        if (!answer) return
        if (answer.status === 201) acknowledged.push(name)
        // Only the kill may end the loop.
        else if (!belfry.end) assert.fail(`a write was refused: ${answer.status}`)
        else return
      }
    }
    // No worker takes it now, because another seems to have it.
    const payload = `'{ "repo_id": 4711 }', run_at := now() + interval '1 hour'`
    await host.query(`select graphile_worker.add_job('erase_repository', ${payload})`)
    await host.query(
      "update graphile_worker._private_jobs set locked_at = now(), locked_by = 'killed', attempts = 1, run_at = now()",
    )
    const writers = Array.from({ length: 8 }, (_, client) => write(client))
    await until('writes are under way', () => acknowledged.length >= 40)
    await killAll(host, belfry)
    await Promise.all(writers)

    belfry = await host.start()
    const repositories = await host.query('select name from repositories')
    const found = new Set(repositories.map(({ name }) => name))
    assert.deepEqual(
      acknowledged.filter((name) => !found.has(name)),
      [],
    )
    assert.equal((await belfry.post('/api/v3/user/repos', host.token, { name: 'afterwards' })).status, 201)
    await until('the job is done', async () => (await host.query('select from graphile_worker.jobs')).length === 0)
  })

  await t.test('when PostgreSQL dies, Belfry logs it, starts it again, and answers until then', async () => {
    const before = host.postmaster
    kill(before, 'SIGKILL')
    const statuses = new Set<number>()
    await until('it works again', async () => {
      const { status } = await belfry.post('/api/v3/user/repos', host.token, { name: `made-${statuses.size}` })
      statuses.add(status)
      return status === 201 && host.postmaster !== before
    })
    assert.ok(
      [...statuses].every((status) => [201, 503].includes(status)),
      [...statuses].join(),
    )
    assert.match(belfry.stderr, /the embedded PostgreSQL ended by itself: starting it again/)
    const postmaster = host.postmaster
    assert.equal(watchesOf(postmaster).length, 1)
    assert.equal(await belfry.stop(), '0')
    assert.deepEqual(processesIn(host.cluster), [])
    await until('its watch is gone', () => watchesOf(postmaster).length === 0)
  })

  await t.test('of several that find the claim of a killed one at the same moment, only one starts', async () => {
    writeFileSync(join(host.data, 'belfry.pid'), '999999999 1')
    const rivals = await Promise.all([host.launch(), host.launch(), host.launch()])
    const ready = () => rivals.filter((rival) => rival.web)
    await until('all is decided', () => rivals.every((rival) => rival.web || rival.end))
    assert.equal(ready().length, 1)
    for (const loser of rivals.filter((rival) => rival.end)) {
      assert.equal(loser.end, '1')
      assert.match(loser.stderr, /^(Belfry is already running on|Another Belfry was starting on) .*\n$/)
    }
    assert.equal((await ready()[0]?.get('/readyz'))?.status, 200)
  })
})

test('a process that has ended, and that its parent has not noticed, is none that runs', async () => {
  // After exec, the shell's child is the child of a program that never asks for its fate. A shell does ask, so the child must not end before.
  const parent = spawn('sh', ['-c', 'sleep 600 & echo $!; exec cat'], { stdio: ['pipe', 'pipe', 'ignore'] })
  const read = async () => (await once(parent.stdout.setEncoding('utf8'), 'data'))[0] as string
  try {
    const pid = parseInt(await read(), 10)
    parent.stdin.write('cat runs')
    assert.equal(await read(), 'cat runs')
    kill(pid, 'SIGKILL')
    await until('it is seen to have ended', () => identityOf(pid) === undefined)
    assert.ok(isListed(pid), 'the system still lists it')
  } finally {
    parent.kill('SIGKILL')
  }
})

/** The shells that wait to end this PostgreSQL when its Belfry is gone. */
const watchesOf = (postmaster: number) =>
  commandsNow().filter((command) => command.endsWith(`kill -INT "$1"; }\0sh\0${postmaster}\0`))

/** Belfry first, so that it has no time to notice; then PostgreSQL and all its sessions. */
async function killAll(host: Host, belfry: BelfryProcess) {
  const processes = processesIn(host.cluster)
  assert.ok(processes.includes(host.postmaster))
  for (const pid of [belfry.pid, ...processes]) kill(pid, 'SIGKILL')
  await belfry.ended()
  await until('PostgreSQL is gone', () => processesIn(host.cluster).length === 0)
  assert.ok(existsSync(join(host.cluster, 'postmaster.pid')))
}
