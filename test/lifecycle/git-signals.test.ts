import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { kill, until } from '#test/machine.ts'
import { Host } from '#test/process.ts'

/** A git that stops before it reads a commit, and says which process it is. */
async function installSlowGit(folder: string) {
  const bin = join(folder, 'bin')
  const reached = join(folder, 'reached')
  await mkdir(bin)
  const script = `#!/bin/sh
case "$*" in *"cat-file commit"*) echo $$ > "${reached}.new"; mv "${reached}.new" "${reached}"; exec sleep 600;; esac
exec ${'/usr/bin/git'} "$@"
`
  await writeFile(join(bin, 'git'), script)
  await chmod(join(bin, 'git'), 0o755)
  return { PATH: `${bin}:${process.env.PATH}`, reached }
}

test('when a signal ends git during a request, the response is 503, and the server continues', async () => {
  await using host = await Host.openUsed()
  const { PATH, reached } = await installSlowGit(host.folder)
  const belfry = await host.start({ settings: { PATH } })
  await (await belfry.post('/api/v3/user/repos', host.token, { name: 'engine', auto_init: true })).text()
  const ask = async () => {
    const answer = await belfry.get('/api/v3/repos/admin/engine/commits/main', host.token)
    return { status: answer.status, retry_after: answer.headers.get('retry-after'), text: await answer.text() }
  }
  const first = ask()
  await until('git reads', () => existsSync(reached))
  kill(Number(readFileSync(reached, 'utf8')), 'SIGTERM')
  const answer = await first
  assert.equal(answer.status, 503)
  assert.equal(answer.retry_after, '5')
  const health = await belfry.get('/healthz')
  assert.deepEqual([health.status, (await health.text()).length > 0], [200, true])
  await rm(reached)

  // To the whole group of ours, as a terminal or a supervisor sends it: git is in a group of its own, and the end is in order.
  const second = ask().catch((error) => error)
  await until('git reads', () => existsSync(reached))
  const pid = Number(readFileSync(reached, 'utf8'))
  assert.notEqual(groupOf(pid), groupOf(belfry.pid))
  belfry.kill('SIGTERM')
  await until('it stops', () => belfry.stderr.includes('stopping'))
  kill(pid, 'SIGTERM')
  assert.equal((await second).status, 503)
  assert.equal(await belfry.ended(), '0')
  assert.ok(!belfry.logged.some(({ level }) => Number(level) >= 60))
})

const groupOf = (pid: number) =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')[2]

test('without git, a start is refused and a request fails with an error that names git', async () => {
  await using host = await Host.openUsed()
  const PATH = join(host.folder, 'bin')
  await mkdir(PATH)
  for (const name of await readdir('/usr/bin')) await symlink(join('/usr/bin', name), join(PATH, name))
  const belfry = await host.start({ settings: { PATH } })
  await (await belfry.post('/api/v3/user/repos', host.token, { name: 'engine', auto_init: true })).text()
  await rm(join(PATH, 'git'))
  const commits = await belfry.get('/api/v3/repos/admin/engine/commits/main', host.token)
  const refs = await belfry.get('/admin/engine/info/refs?service=git-upload-pack')
  for (const answer of [commits, refs]) {
    assert.ok(answer.status >= 500)
    assert.doesNotMatch(await answer.text(), /database/)
  }
  const missing = () =>
    belfry.logged.filter(({ level, err }) => level === 50 && /^Error: Git is not installed.*\n +at /.test(stackOf(err)))
  // The log arrives through a pipe, after the responses.
  await until('both requests are logged', () => missing().length >= 2)
  await host.query(`select graphile_worker.add_job('point_head', '{"repo_id": 1}', max_attempts := 9)`)
  await until('the job fails', () =>
    belfry.logged.some(
      ({ level, msg, err }) => level === 50 && /^a job failed; it is/.test(`${msg}`) && /Git is/.test(stackOf(err)),
    ),
  )
  assert.equal(await belfry.stop(), '0')

  const refused = await host.run({ settings: { PATH } })
  assert.equal(refused.end, '1')
  assert.match(refused.stderr, /^Git is not installed on this server, or not on its PATH\. Install git 2\.38 or later\.$/m)
})

const stackOf = (err: unknown) => String((err as { stack?: string } | undefined)?.stack)

test('an uncaught exception or unhandled rejection is logged and stops the process in order', async () => {
  for (const fault of [`setTimeout(() => { throw new Error('a bug') })`, `Promise.reject(new Error('a bug'))`]) {
    const script = `
      import { openLog } from '#platform/log.ts'
      import { startUnderSignals } from '#signals.ts'
      const stop = async () => console.log('stopped in order')
      await startUnderSignals(async () => ({ stop, kill() {} }), openLog('info'))
      setInterval(() => {}, 1000)
      ${fault}`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: join(import.meta.dirname, '../..') })
    const said = Promise.all([text(child.stdout), text(child.stderr)])
    assert.deepEqual(await once(child, 'close'), [1, null])
    const [stdout, stderr] = await said
    assert.match(stdout, /stopped in order/)
    assert.match(stderr, /"level":60.*a bug.*uncaught exception: stopping/)
  }
})
