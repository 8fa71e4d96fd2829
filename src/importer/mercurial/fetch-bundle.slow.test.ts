import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { ImportFailure } from '#importer/source.ts'
import type { Order } from '#importer/steps.ts'
import { makeHgRepository } from '#test/imports/hg.ts'
import { openHgBundle } from '#test/imports/hg-bundle.ts'
import { describeHistory } from '#test/imports/hg-repository.ts'
import { bundle2, type HgServer, startFakeHg, startGate, startHgServer } from '#test/imports/hg-server.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { mercurial } from './mercurial.ts'

let folder: string
let server: HgServer
let refs: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belfry-hg-'))
  server = await startHgServer(await makeHgRepository(folder, describeHistory(120)))
  await using workspace = await openWorkspace()
  await mercurial.convert(originOf(server.url), workspace)
  refs = await workspace.git('for-each-ref')
  equal((await mercurial.verify(originOf(server.url), workspace, true)).mismatches.length, 0)
  deepEqual(await mercurial.arrange?.(originOf(server.url), workspace), { large_blobs: [], notes: {} })
  // The pack is published as it is, so most objects must be deltas.
  const bases = (await workspace.git('cat-file', '--batch-all-objects', '--batch-check=%(deltabase)')).split('\n')
  ok(bases.filter((base) => !/^0+$/.test(base)).length > bases.length / 4, `of ${bases.length}`)
})

after(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

test('a repository with a password is read with it, and not without', async () => {
  await using gate = await startGate(server, { password: 'ann:s3cret' })
  await using workspace = await openWorkspace()
  equal(await mercurial.probe(originOf(gate.url), workspace), 'needs_auth')
  equal(await mercurial.probe(originOf(gate.url, 'ann', 'wrong'), workspace), 'needs_auth')
  deepEqual(await mercurial.probe(originOf(gate.url, 'ann', 's3cret'), workspace), { found: {} })
  await rejects(mercurial.convert(originOf(gate.url, 'ann', 'wrong'), workspace), { kind: 'auth' })
  await mercurial.convert(originOf(gate.url, 'ann', 's3cret'), workspace)
  equal(await workspace.git('for-each-ref'), refs)
  ok(!gate.asked.some((path) => path.includes('s3cret')))
})

test('a server of another kind is not detected as Mercurial', async () => {
  await using workspace = await openWorkspace()
  const page = createServer((_, answer) => answer.writeHead(200, { 'content-type': 'text/html' }).end('getbundle lookup'))
  page.listen(0, '127.0.0.1')
  await once(page, 'listening')
  const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}/`
  equal(await mercurial.probe(originOf(url), workspace), 'nothing')
  await rejects(mercurial.convert(originOf(url), workspace), { message: /not a Mercurial repository/, kind: 'error' })
  page.close()
  page.closeAllConnections()
  await once(page, 'close')
  equal(await mercurial.probe(originOf(url), workspace), 'nothing')
  await rejects(mercurial.convert(originOf(url), workspace), { message: /does not answer/ })
  equal(await mercurial.probe(originOf('svn://127.0.0.1/x'), workspace), 'nothing')
})

test('a lost connection is reported, and the next run gives the same result', async () => {
  await using workspace = await openWorkspace()
  {
    await using gate = await startGate(server, { cut_after: 20_000 })
    await rejects(mercurial.convert(originOf(gate.url), workspace), { message: /could not be fetched/ })
  }
  await mercurial.convert(originOf(server.url), workspace)
  equal(await workspace.git('for-each-ref'), refs)
})

test('a killed run resumes and gives the same result', async () => {
  await using workspace = await openWorkspace()
  await using gate = await startGate(server, {})
  const bundles = () => gate.asked.filter((path) => path.includes('cmd=getbundle')).length
  // Killed while fetching, after fetching, and while writing objects.
  const stages = ['bundle', 'bundle.json', 'revisions.marks']
  for (const name of stages) {
    const child = startWorker(gate.url, workspace.folder)
    while (!existsSync(join(workspace.folder, name)) && child.exitCode === null)
      await new Promise((resolve) => setTimeout(resolve, 2))
    process.kill(-(child.pid as number), 'SIGKILL')
    if (child.signalCode === null && child.exitCode === null) await once(child, 'exit')
  }
  const asked = bundles()
  await mercurial.convert(originOf(gate.url), workspace)
  equal(bundles(), asked)
  equal(await workspace.git('for-each-ref'), refs)

  // The states after a checkpoint among the files and among the changesets.
  const marks = (await readFile(join(workspace.folder, 'revisions.marks'), 'utf8')).trim().split('\n')
  for (const kept of [Math.floor(marks.length / 3), marks.length - 50]) {
    await writeFile(join(workspace.folder, 'revisions.marks'), `${marks.slice(0, kept).join('\n')}\n`)
    // Git may have saved more than the file of ids.
    await truncate(join(workspace.folder, 'contents'), 1000)
    await workspace.git('update-ref', '-d', 'refs/import/orig/heads/main')
    await mercurial.convert(originOf(gate.url), workspace)
    equal(await workspace.git('for-each-ref'), refs)
    // It did not see all blobs, so the large ones are unknown.
    deepEqual(await mercurial.arrange?.(originOf(gate.url), workspace), { notes: {} })
  }
  equal(bundles(), asked)
  await workspace.git('fsck', '--strict')
  const { mismatches, revisions } = await mercurial.verify(originOf(gate.url), workspace, true)
  deepEqual([mismatches, revisions], [[], 120])
})

function startWorker(url: string, target: string): ChildProcess {
  const order: Order = {
    step: 'import',
    vcs: 'mercurial',
    origin: originOf(url),
    folder: target,
    default_branch: 'main',
    addresses: 'loopback',
    certificates: null,
    lfs_store: join(target, 'lfs'),
  }
  const worker = join(import.meta.dirname, '../worker/main.ts')
  const child = spawn(process.execPath, [worker], { stdio: ['pipe', 'ignore', 'inherit'], detached: true })
  child.stdin?.write(`${JSON.stringify(order)}\n`)
  return child
}

test('a stopped run ends', async () => {
  await using workspace = await openWorkspace()
  const stopping = { ...workspace, onProgress: () => workspace.stop() }
  await rejects(mercurial.convert(originOf(server.url), stopping), { message: 'the import was stopped' })
})

test('unsupported repositories are refused with a message, and damaged data is never imported', async () => {
  const small = openHgBundle()
  small.commit({ set: { 'a.txt': `${'A'.repeat(100)}\n` } })
  small.commit({ set: { 'a.txt': 'B\n' } })
  const whole = small.changegroup()
  const part = (payload: Buffer, version: string, more: Record<string, string> = {}) => ({
    type: 'CHANGEGROUP',
    parameters: { version, ...more },
    payload: [payload],
  })
  const changed = (from: string, to: string) => Buffer.from(whole.toString('latin1').replace(from, to), 'latin1')
  const tombstone = '\x01\ncensored: gone\n\x01\n'.padEnd(100, 'x')
  const flagged = (log: string, flag: number) =>
    part(
      small.changegroup((name) => (name === log ? flag : 0)),
      '03',
    )
  const gone = { type: 'error:abort', parameters: { message: 'no more', hint: 'ask later' } }
  const cases: [Buffer, RegExp][] = [
    [bundle2(part(changed('AAAA', 'AABA'), '01')), /damaged/],
    [bundle2(part(changed('change', 'chance'), '01')), /damaged/],
    [bundle2(part(changed('a.txt\0', 'b.txt\0'), '01')), /damaged/],
    [bundle2(part(Buffer.concat([whole.subarray(0, -1), Buffer.of(4)]), '01')), /damaged/],
    [bundle2(part(whole.subarray(0, -30), '01')), /too early/],
    [bundle2(part(changed('A'.repeat(100), tombstone), '01')), /a\.txt has a censored revision/],
    [bundle2(flagged('a.txt', 0x8000)), /a\.txt has a censored revision/],
    [bundle2(flagged('a.txt', 0x2000)), /a\.txt is stored outside of the repository by the lfs extension/],
    [bundle2(flagged('a.txt', 1)), /a\.txt is stored in an unknown way/],
    [bundle2(flagged('changelog', 0x4000)), /only a part of the history/],
    [bundle2(part(whole, '03', { treemanifest: '1' })), /tree manifests/],
    [bundle2(part(whole, '09')), /unsupported version/],
    [
      bundle2({ type: 'CHANGEGROUP', parameters: { version: '01' }, payload: [whole.subarray(0, 50), gone] }),
      /reported an error: no more ask later/,
    ],
    [bundle2(part(whole, '01'), gone), /reported an error: no more ask later/],
    [bundle2(part(whole, '01')).subarray(0, -4), /too early/],
    [Buffer.from('\x03bz2BZh9'), /compresses with bz2/],
    [Buffer.from('\x04zlibnothing of the kind'), /damaged: .*the server said: "nothing of the kind"/],
    [Buffer.from('\x04none\xff\xff\xff\xf0', 'latin1'), /damaged/],
    [Buffer.from('\x04none'), /too early/],
  ]
  for (const [bytes, message] of cases) {
    await using fake = await startFakeHg(bytes)
    await using workspace = await openWorkspace()
    await rejects(mercurial.convert(originOf(fake.url), workspace), (error) => {
      ok(error instanceof ImportFailure, `${error}`)
      match(error.message, message)
      return true
    })
    equal(await workspace.git('for-each-ref'), '')
    ok(!existsSync(join(workspace.folder, 'bundle.json')))
  }
  await using aborted = await startFakeHg(Buffer.from('no such thing'), { type: 'application/hg-error' })
  await using old = await startFakeHg(whole, { capabilities: 'lookup changegroupsubset' })
  await using good = await startFakeHg(bundle2({ type: 'output', payload: [Buffer.from('hello')] }, part(whole, '01')))
  await using empty = await startFakeHg(bundle2())
  await using ancient = await startFakeHg(deflateSync(whole), { type: 'application/mercurial-0.1', capabilities: 'getbundle' })
  await using workspace = await openWorkspace()
  await rejects(mercurial.convert(originOf(aborted.url), workspace), { message: /reported: no such thing/ })
  await rejects(mercurial.convert(originOf(old.url), workspace), { message: /older than Mercurial 1.9/ })
  equal((await mercurial.convert(originOf(empty.url), workspace)).commit_count, 0)
  await rm(join(workspace.folder, 'bundle.json'))
  equal((await mercurial.convert(originOf(good.url), workspace)).commit_count, 2)
  const head = await workspace.git('rev-parse', 'refs/import/orig/heads/main')
  await rm(join(workspace.folder, 'bundle.json'))
  equal((await mercurial.convert(originOf(`${ancient.url}hg/?x=1`), workspace)).commit_count, 2)
  equal(await workspace.git('rev-parse', 'refs/import/orig/heads/main'), head)
  deepEqual(ancient.asked.slice(-1), [`/hg/?x=1&cmd=getbundle&common=${'0'.repeat(40)}`])
})
