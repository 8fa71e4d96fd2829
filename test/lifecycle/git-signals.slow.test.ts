import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { kill, until } from '#test/machine.ts'
import { Host } from '#test/process.ts'

/** The system's programs, with a git that stops before it reads a commit and writes the id of its process. */
async function installSlowGit(folder: string) {
  const [PATH, reached] = [join(folder, 'bin'), join(folder, 'reached')]
  await mkdir(PATH)
  for (const name of await readdir('/usr/bin')) if (name !== 'git') await symlink(join('/usr/bin', name), join(PATH, name))
  const script = `#!/bin/sh
case "$*" in *"cat-file commit"*) echo $$ > "${reached}.new"; mv "${reached}.new" "${reached}"; exec sleep 600;; esac
exec /usr/bin/git "$@"
`
  await writeFile(join(PATH, 'git'), script, { mode: 0o755 })
  return { PATH, reached }
}

test('when a signal ends git, or git is missing, requests get 503 and the server continues', async () => {
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

  const errors = () => belfry.logged.filter(({ level }) => level === 50)
  await rename(join(PATH, 'git'), join(PATH, 'away'))
  assert.doesNotMatch((await ask()).text, /database/)
  // The log arrives through a pipe, after the response.
  await until('it is logged', () => errors().some(({ err }) => /^Error: Git is not installed.*\n +at /.test(stackOf(err))))
  await host.query(`select graphile_worker.add_job('point_head', '{"repo_id": 1}', max_attempts := 9)`)
  await until('the job fails', () =>
    errors().some(({ msg, err }) => /^a job failed; it is/.test(`${msg}`) && /Git is/.test(stackOf(err))),
  )
  await rename(join(PATH, 'away'), join(PATH, 'git'))

  // To the whole process group of the server, as a terminal or a supervisor sends it: git has a group of its own, and the server stops in order.
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

  await rm(join(PATH, 'git'))
  const refused = await host.run({ settings: { PATH } })
  assert.equal(refused.end, '1')
  assert.match(refused.stderr, /^Git is not installed on this server, or not on its PATH\. Install git 2\.38 or later\.$/m)
})

const groupOf = (pid: number) =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')[2]

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
