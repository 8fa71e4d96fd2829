import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { git } from '#git/git.ts'
import { injecting, openForge } from '#test/forge.ts'
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
