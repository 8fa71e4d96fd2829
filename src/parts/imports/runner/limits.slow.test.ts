import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { begin, openRuns, run } from '#test/imports/runs.ts'
import { until } from '#test/machine.ts'
import { type Limits, watchLimits } from './limits.ts'

const plenty: Limits = { disk: 2 ** 50, memory: 2 ** 50, spare: 0, total: 2 ** 50, idle: 2 ** 50 }
const megabyte = 2 ** 20

const exceeded: [string, Partial<Limits>, RegExp | undefined][] = [
  ['nothing', {}, undefined],
  ['memory', { memory: megabyte }, /^The import took more than 1 MB of memory\. .*BELFRY_IMPORT_MEMORY/],
  ['disk', { disk: megabyte }, /^The import took more than 1 MB of disk space\. .*BELFRY_IMPORT_DISK/],
  ['the whole disk', { spare: 2 ** 60 }, /^The disk of this server is almost full/],
  ['time', { total: 7_200_000 }, /^The import took longer than 2 hours\. .*BELFRY_IMPORT_HOURS/],
  ['patience', { idle: 600_000 }, /^The source sent nothing for 10 minutes\./],
]

test('each exceeded limit has a message of its own, once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-limits-'))
  await writeFile(join(folder, 'large'), randomBytes(2 * megabyte))
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' })
  const usage = {
    group: child.pid ?? 0,
    folder,
    worked: () => 7_200_001,
    idleTime: () => 600_001,
    markActive: () => assert.fail('it only waits'),
  }
  const reported = new Map<string, string[]>()
  using watching = new DisposableStack()
  for (const [what, limits] of exceeded) {
    reported.set(what, [])
    watching.use(watchLimits({ ...plenty, ...limits }, usage, (message) => reported.get(what)?.push(message)))
  }
  await until('all are told', () => exceeded.every(([what, , words]) => !words || reported.get(what)?.length))
  for (const [what, , words] of exceeded) {
    assert.equal(reported.get(what)?.length, words ? 1 : 0, what)
    if (words) assert.match(reported.get(what)?.[0] ?? '', words)
  }
  child.kill('SIGKILL')
  await rm(folder, { recursive: true })
})

test('an import that exceeds a limit ends with advice and leaves no files', async () => {
  await using runs = await openRuns()
  const { forge, ada, server, leftovers } = runs
  const large = await server.make('large')
  await large.work.commit('Large', { 'large.bin': randomBytes(3 * megabyte) })
  await large.work.push('main')
  {
    await using _ = run(forge, { BELFRY_IMPORT_DISK: 1 })
    const disk = await begin(ada, 'disk', { vcs_url: `${server.url}/open/large.git` })
    const tooLarge = await disk.reaches('error')
    assert.equal(tooLarge.failed_step, 'importing')
    assert.match(tooLarge.message, /more than 1 MB of disk space/)
  }

  server.hold(new Promise(() => {}))
  await using _ = run(forge, { BELFRY_IMPORT_HOURS: 0.0001 })
  const time = await begin(ada, 'time', { vcs: 'git', vcs_url: `${server.url}/open/source.git` })
  const tooLong = await time.reaches('error')
  assert.equal(tooLong.failed_step, 'importing')
  assert.match(tooLong.message, /longer than 0\.0001 hours/)
  await until('nothing is left', async () => (await leftovers()).length === 0)
})
