import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Workshop } from '#importer/source.ts'
import { membersOf } from '#parts/imports/running/groups.ts'
import { type LastWord, startProcess, type WorkerProcess } from '#parts/imports/running/process.ts'
import { failing, makeEngine, refsOf } from '#test/imports/git-history.ts'
import { password, startGitServer, username } from '#test/imports/git-server.ts'
import { openWorkshop, originOf } from '#test/imports/workshop.ts'
import { childrenOf, until } from '#test/machine.ts'
import { certificateFile } from '#test/webhooks.ts'
import { connectGit } from './connecting.ts'
import { git } from './git.ts'

/** The processes below one, of any generation. */
const descendants = (pid = process.pid): number[] => childrenOf(pid).flatMap((child) => [child, ...descendants(child)])

const drafts = async ({ folder }: Workshop) =>
  (await readdir(folder, { recursive: true }).catch(() => [])).filter((name) => name.includes('/tmp_pack'))

test('who is not known is refused, and a password goes to its own host and into no argument', async () => {
  await using server = await startGitServer()
  await makeEngine(server)
  await using workshop = await openWorkshop()
  const url = `${server.url}/closed/engine.git`
  await assert.rejects(git.convert(originOf(url), workshop), failing(/asks for a password/, 'auth'))
  await assert.rejects(git.convert(originOf(url, username, 'wrong'), workshop), failing(/does not accept/, 'auth'))
  // Also when only git itself notices.
  const asking = ['ls-remote', '--', url]
  await assert.rejects(connectGit(originOf(url, username, 'wrong'), workshop, asking), failing(/does not accept/, 'auth'))
  const elsewhere = { ...originOf(url, username, password), url: 'http://localhost/' }
  await assert.rejects(connectGit(elsewhere, workshop, asking), failing(/does not accept/, 'auth'))

  const held = Promise.withResolvers<void>()
  server.hold(held.promise)
  const converting = git.convert(originOf(url, username, password), workshop)
  await until('a pack is half here', async () => (await drafts(workshop)).length > 0)
  const lines = descendants().map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
  assert.ok(lines.some((line) => line.includes('index-pack')))
  const { proxy } = workshop.egress
  for (const secret of [password, encodeURIComponent(password), proxy.password, `${proxy.port}`])
    assert.deepEqual(
      lines.filter((line) => line.includes(secret)),
      [],
    )
  held.resolve()
  assert.equal((await converting).commit_count, 3)
  assert.ok((await readdir(workshop.folder)).includes('askpass'))
  assert.doesNotMatch(await readFile(join(workshop.folder, 'askpass'), 'utf8'), /pa ss/)
})

test('what was killed goes on, and what is cancelled ends with all that it started', async () => {
  await using server = await startGitServer()
  const { path } = await makeEngine(server)
  await using workshop = await openWorkshop()
  const { folder, lfs_store } = workshop
  const origin = originOf(`${server.url}/open/engine.git`)
  const order = {
    step: 'import',
    vcs: 'git',
    origin,
    folder,
    default_branch: 'main',
    addresses: 'loopback',
    certificates: null,
    lfs_store,
  } as const
  /** What there is of a pack when a worker has the half of it. */
  const half = async ({ complaints }: WorkerProcess, last: Promise<LastWord>, isIt: (there: string[]) => boolean) => {
    const failed = last.then((word) => assert.fail(`${JSON.stringify(word)} ${complaints()}`))
    const begun = until('a pack is half here', async () => {
      const there = await drafts(workshop)
      return there.length > 0 && isIt(there)
    })
    await Promise.race([begun, failed])
    return drafts(workshop)
  }
  const held = Promise.withResolvers<void>()
  server.hold(held.promise)
  const start = () => {
    const worker = startProcess(folder, 2 ** 30)
    return { worker, last: worker.obey(order, () => {}) }
  }
  const killed = start()
  const [left = ''] = await half(killed.worker, killed.last, () => true)
  process.kill(-killed.worker.group, 'SIGKILL')
  assert.deepEqual(await killed.last, { died: 'SIGKILL' })
  assert.deepEqual(await drafts(workshop), [left])

  const cancelled = start()
  await half(cancelled.worker, cancelled.last, (there) => !there.includes(left))
  await cancelled.worker.end()
  assert.deepEqual(await membersOf(cancelled.worker.group), [])
  held.resolve()

  assert.equal((await git.convert(origin, workshop)).commit_count, 3)
  assert.deepEqual(await drafts(workshop), [])
  assert.deepEqual(await refsOf(workshop.repository, 'refs/import/orig/'), await refsOf(path, 'refs/'))
  // What is complete is not fetched again.
  const packs = await readdir(join(workshop.repository, 'objects', 'pack'))
  await git.convert(origin, workshop)
  assert.deepEqual(await readdir(join(workshop.repository, 'objects', 'pack')), packs)
})

test('nothing but http is spoken, no redirect leads to another host, and the policy has the last word', async () => {
  await using server = await startGitServer()
  const { path } = await makeEngine(server)
  await using workshop = await openWorkshop()
  for (const url of [
    'ext::sh -c "touch pwned"',
    `file://${path}`,
    path,
    'ssh://127.0.0.1/x',
    '-uwhatever',
    'git://127.0.0.1/x',
  ]) {
    assert.equal(await git.probe(originOf(url), workshop), 'nothing')
    await assert.rejects(git.convert(originOf(url), workshop), failing(/no git repository/))
    if (!URL.canParse(url)) continue
    await assert.rejects(connectGit(originOf(url), workshop, ['fetch', '--', url]), failing(/must begin with http/))
  }
  const away = originOf(`${server.url}/away/engine.git`, username, password)
  assert.equal(await git.probe(away, workshop), 'nothing')
  await assert.rejects(git.convert(away, workshop), failing(/no git repository/))
  await assert.rejects(connectGit(away, workshop, ['ls-remote', '--', away.url]), failing(/has moved/))
  assert.deepEqual(
    server.asked.filter(({ host }) => host?.startsWith('localhost')),
    [],
  )
  await assert.rejects(
    connectGit(originOf(`${server.url}/open/gone.git`), workshop, ['ls-remote', '--', `${server.url}/open/gone.git`]),
    failing(/no repository/),
  )

  await using strict = await openWorkshop('external')
  const asked = server.asked.length
  const origin = originOf(`${server.url}/open/engine.git`)
  await assert.rejects(git.convert(origin, strict), failing(/may not connect there: 127\.0\.0\.1 is /))
  await assert.rejects(connectGit(origin, strict, ['ls-remote', '--', origin.url]), failing(/may not connect there/))
  assert.equal(server.asked.length, asked)
})

test('no hook is run, whoever has put it there', async () => {
  await using server = await startGitServer()
  const { work } = await makeEngine(server)
  await using workshop = await openWorkshop()
  const origin = originOf(`${server.url}/open/engine.git`)
  await git.convert(origin, workshop)
  const [hooks, trace] = [join(workshop.repository, 'hooks'), join(workshop.folder, 'trace')]
  await mkdir(hooks)
  for (const name of ['reference-transaction', 'post-checkout', 'pre-auto-gc'])
    await writeFile(join(hooks, name), `#!/bin/sh\ntouch ${trace}\n`, { mode: 0o700 })
  await work.commit('Later')
  await work.push('topic/deep')
  assert.equal((await git.convert(origin, workshop)).commit_count, 4)
  await assert.rejects(readFile(trace), { code: 'ENOENT' })
  // And it would be, by a git that is not told otherwise.
  await workshop.git('update-ref', 'refs/heads/x', 'refs/import/orig/heads/main')
  await readFile(trace)
})

test('a source is believed whose certificate is known, and no other', async () => {
  await using server = await startGitServer({ certificate: 'signed' })
  await makeEngine(server)
  const origin = originOf(`${server.url}/closed/engine.git`, username, password)
  await using stranger = await openWorkshop()
  await assert.rejects(git.convert(origin, stranger), failing(/certificate of the source is not trusted/))
  await assert.rejects(connectGit(origin, stranger, ['ls-remote', '--', origin.url]), failing(/certificate of the source is not/))
  await using strict = await openWorkshop('external')
  await assert.rejects(connectGit(origin, strict, ['ls-remote', '--', origin.url]), failing(/may not connect there/))
  await using friend = await openWorkshop('loopback', await readFile(certificateFile('authority'), 'utf8'))
  assert.equal((await git.convert(origin, friend)).commit_count, 3)
})
