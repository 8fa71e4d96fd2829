import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { git } from '#git/git.ts'
import { sql } from '#platform/database.ts'
import { errorsOf, injecting, openForge } from '#test/forge.ts'
import { Desk, installHook, openPushes, pkt, zeros } from '#test/git.ts'
import { processesIn, until } from '#test/machine.ts'

const inject = injecting(openForge)

test('a client that disconnects during a push leaves no process, no ref and no open push', inject(async (forge) => {
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine')
  const path = forge.belfry.storage.pathOf(id)
  for (const packed of [false, true]) {
    const head = `${pkt(`${zeros} ${'1'.repeat(40)} refs/heads/main\0report-status`)}0000PACK`
    const cut = request(`${forge.web}/ada/engine.git/git-receive-pack`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.token}`, ...(packed && { 'content-encoding': 'gzip' }) },
    })
    cut.on('error', () => {})
    cut.write(packed ? gzipSync(head).subarray(0, -8) : head)
    await until('git is at work', () => processesIn(path).length > 0)
    assert.equal(await openPushes(forge), 1)
    cut.destroy()
    await until('git has ended', () => processesIn(path).length === 0)
    await until('nothing is open', async () => (await openPushes(forge)) === 0)
  }
  assert.deepEqual(await forge.belfry.storage.refsOf(id), new Map())
}))

test('a client that disconnects during a hook ends the push', inject(async (forge) => {
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine', { auto_init: true })
  const path = forge.belfry.storage.pathOf(id)
  const head = (await git(['-C', path, 'rev-parse', 'main'])).trim()
  await installHook(path, 'pre-receive', `touch "${path}/reached"; until [ -e "${path}/go" ]; do sleep 0.02; done`)
  const cut = request(`${forge.web}/ada/engine.git/git-receive-pack`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.token}` },
  })
  cut.on('error', () => {})
  cut.end(`${pkt(`${head} ${zeros} refs/heads/main\0report-status`)}0000`)
  await until('the hook is reached', () => existsSync(join(path, 'reached')))
  cut.destroy()
  await until('git has ended', () => processesIn(path).length === 0)
  await until('nothing is open', async () => (await openPushes(forge)) === 0)
  assert.ok(await forge.belfry.storage.hasBranch(id, 'main'))
}))

test('a client that disconnects while its push is recorded is no error, and the push is recorded', async () => {
  // The push waits for a lock, on a busy machine for long.
  await using forge = await openForge({ database: { brief: { connect: 4000, lock: 60_000, statement: 60_000 } } })
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine', { auto_init: true })
  const head = (await git(['-C', forge.belfry.storage.pathOf(id), 'rev-parse', 'main'])).trim()
  const gate = await forge.belfry.db.connect()
  await gate.query('begin')
  await gate.query('lock table refs in share mode')
  const cut = request(`${forge.web}/ada/engine.git/git-receive-pack`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.token}` },
  })
  cut.on('error', () => {})
  const empty = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  const command = pkt(`${zeros} ${head} refs/heads/topic\0report-status`)
  cut.end(Buffer.concat([Buffer.from(`${command}0000`), empty, createHash('sha1').update(empty).digest()]))
  const waits = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await until('the push is being recorded', async () => ((await forge.belfry.db.query(waits)).rowCount ?? 0) > 0)
  cut.destroy()
  await until('the server has noticed', () => forge.logged.some((line) => line.includes('the client has disconnected')))
  await gate.query('rollback')
  gate.release()
  await until('nothing is open', async () => (await openPushes(forge)) === 0)
  assert.ok((await ada.get('/repos/ada/engine/branches/topic')).ok)
  assert.deepEqual(errorsOf(forge), [])
})

test('a client that disconnects during a clone ends its git process', inject(async (forge) => {
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine')
  await using desk = await Desk.open(forge)
  const work = await desk.begin(ada, 'ada/engine')
  const head = await work.commit('Large', { 'large.bin': randomBytes(20 << 20) })
  await work.push()
  const leaving = new AbortController()
  const answer = await fetch(`${forge.web}/ada/engine.git/git-upload-pack`, {
    method: 'POST',
    body: `${pkt(`want ${head} ofs-delta\n`)}0000${pkt('done\n')}`,
    signal: leaving.signal,
  })
  assert.equal(answer.headers.get('content-type'), 'application/x-git-upload-pack-result')
  await answer.body?.getReader().read()
  assert.ok(processesIn(forge.belfry.storage.pathOf(id)).length > 0, 'it waits for its reader')
  leaving.abort()
  await until('git has ended', () => processesIn(forge.belfry.storage.pathOf(id)).length === 0)
}))
