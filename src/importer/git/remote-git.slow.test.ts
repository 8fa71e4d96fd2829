import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Workspace } from '#importer/source.ts'
import { membersOf } from '#parts/imports/runner/process-group.ts'
import { type StepAnswer, startWorker, type WorkerProcess } from '#parts/imports/runner/worker-process.ts'
import { certificateFile } from '#test/certificates.ts'
import { failing, makeEngine, refsOf } from '#test/imports/git-history.ts'
import { password, startGitServer, username } from '#test/imports/git-server.ts'
import { listen } from '#test/imports/http-server.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { childrenOf, commandOf, until } from '#test/machine.ts'
import { git } from './git.ts'
import { connectGit } from './remote-git.ts'

/** The descendants of a process. */
const descendants = (pid = process.pid): number[] => childrenOf(pid).flatMap((child) => [child, ...descendants(child)])

const drafts = async ({ folder }: Workspace) =>
  (await readdir(folder, { recursive: true }).catch(() => [])).filter((name) => name.includes('/tmp_pack'))

test('missing credentials are reported, and a password goes only to its host and into no argument', async () => {
  await using server = await startGitServer()
  await makeEngine(server)
  await using workspace = await openWorkspace()
  const url = `${server.url}/closed/engine.git`
  await assert.rejects(git.convert(originOf(url), workspace), failing(/asks for a password/, 'auth'))
  await assert.rejects(git.convert(originOf(url, username, 'wrong'), workspace), failing(/does not accept/, 'auth'))
  // Also if only git itself gets the refusal.
  const asking = ['ls-remote', '--', url]
  await assert.rejects(connectGit(originOf(url, username, 'wrong'), workspace, asking), failing(/does not accept/, 'auth'))
  const elsewhere = { ...originOf(url, username, password), url: 'http://localhost/' }
  await assert.rejects(connectGit(elsewhere, workspace, asking), failing(/does not accept/, 'auth'))

  const held = Promise.withResolvers<void>()
  server.hold(held.promise)
  const converting = git.convert(originOf(url, username, password), workspace)
  // A failure below closes the server: the test must report that failure, not the lost connection.
  converting.catch(() => {})
  await until('a pack is half here', async () => (await drafts(workspace)).length > 0)
  const lines = descendants().map(commandOf)
  assert.ok(lines.some((line) => line.includes('index-pack')))
  const { proxy } = workspace.egress
  for (const secret of [password, encodeURIComponent(password), proxy.password, `${proxy.port}`])
    assert.deepEqual(
      lines.filter((line) => line.includes(secret)),
      [],
    )
  held.resolve()
  assert.equal((await converting).commit_count, 3)
  assert.ok((await readdir(workspace.folder)).includes('askpass'))
  assert.doesNotMatch(await readFile(join(workspace.folder, 'askpass'), 'utf8'), /pa ss/)
})

test('a killed fetch resumes, and a cancelled one ends all its processes', async () => {
  await using server = await startGitServer()
  const { path } = await makeEngine(server)
  await using workspace = await openWorkspace()
  const { folder, lfs_store } = workspace
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
  /** The temporary pack of a worker in the middle of a fetch. */
  const half = async ({ stderr }: WorkerProcess, last: Promise<StepAnswer>, isIt: (there: string[]) => boolean) => {
    const failed = last.then((word) => assert.fail(`${JSON.stringify(word)} ${stderr()}`))
    const begun = until('a pack is half here', async () => {
      const there = await drafts(workspace)
      return there.length > 0 && isIt(there)
    })
    await Promise.race([begun, failed])
    return drafts(workspace)
  }
  const held = Promise.withResolvers<void>()
  server.hold(held.promise)
  const start = () => {
    const worker = startWorker(folder, 2 ** 30)
    return { worker, last: worker.handleOrder(order, () => {}) }
  }
  const killed = start()
  const [left = ''] = await half(killed.worker, killed.last, () => true)
  process.kill(-killed.worker.group, 'SIGKILL')
  assert.deepEqual(await killed.last, { died: 'SIGKILL' })
  assert.deepEqual(await drafts(workspace), [left])

  const cancelled = start()
  await half(cancelled.worker, cancelled.last, (there) => !there.includes(left))
  await cancelled.worker.end()
  assert.deepEqual(await membersOf(cancelled.worker.group), [])
  held.resolve()

  assert.equal((await git.convert(origin, workspace)).commit_count, 3)
  assert.deepEqual(await drafts(workspace), [])
  assert.deepEqual(await refsOf(workspace.repository, 'refs/import/orig/'), await refsOf(path, 'refs/'))
  // A complete fetch is not repeated.
  const packs = await readdir(join(workspace.repository, 'objects', 'pack'))
  await git.convert(origin, workspace)
  assert.deepEqual(await readdir(join(workspace.repository, 'objects', 'pack')), packs)
})

test('only http is used, redirects stay on the host, and the policy applies', async () => {
  await using server = await startGitServer()
  const { path } = await makeEngine(server)
  await using workspace = await openWorkspace()
  for (const url of [
    'ext::sh -c "touch pwned"',
    `file://${path}`,
    path,
    'ssh://127.0.0.1/x',
    '-uwhatever',
    'git://127.0.0.1/x',
  ]) {
    assert.equal(await git.probe(originOf(url), workspace), 'nothing')
    await assert.rejects(git.convert(originOf(url), workspace), failing(/no longer a git repository/))
    if (!URL.canParse(url)) continue
    await assert.rejects(connectGit(originOf(url), workspace, ['fetch', '--', url]), failing(/must begin with http/))
  }
  const away = originOf(`${server.url}/away/engine.git`, username, password)
  assert.equal(await git.probe(away, workspace), 'nothing')
  await assert.rejects(git.convert(away, workspace), failing(/no longer a git repository/))
  await assert.rejects(connectGit(away, workspace, ['ls-remote', '--', away.url]), failing(/has moved/))
  assert.deepEqual(
    server.asked.filter(({ host }) => host?.startsWith('localhost')),
    [],
  )
  await assert.rejects(
    connectGit(originOf(`${server.url}/open/gone.git`), workspace, ['ls-remote', '--', `${server.url}/open/gone.git`]),
    failing(/no longer a repository/),
  )

  await using strict = await openWorkspace('external')
  const asked = server.asked.length
  const origin = originOf(`${server.url}/open/engine.git`)
  await assert.rejects(git.convert(origin, strict), failing(/may not connect there: 127\.0\.0\.1 is /))
  await assert.rejects(connectGit(origin, strict, ['ls-remote', '--', origin.url]), failing(/may not connect there/))
  assert.equal(server.asked.length, asked)
})

test('names of more than 100 MB are refused', async () => {
  const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`
  const branch = (number: number) => line(`${'a'.repeat(40)} refs/heads/${number}${'x'.repeat(65_000)}\n`)
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/x-git-upload-pack-advertisement').write(line('# service=git-upload-pack\n'))
    response.write('0000')
    for (let number = 0; number < 1700; number++) response.write(branch(number))
    response.end('0000')
  })
  await using source = await listen(server)
  await using workspace = await openWorkspace()
  const listing = connectGit(originOf(source.url), workspace, ['ls-remote', '--', source.url])
  await assert.rejects(listing, failing(/more branches and tags than can be imported/))
})

test('a source with a known certificate is trusted, and no other', async () => {
  await using server = await startGitServer({ certificate: 'signed' })
  await makeEngine(server)
  const origin = originOf(`${server.url}/closed/engine.git`, username, password)
  await using stranger = await openWorkspace()
  await assert.rejects(git.convert(origin, stranger), failing(/certificate of the source is not trusted/))
  await assert.rejects(connectGit(origin, stranger, ['ls-remote', '--', origin.url]), failing(/certificate of the source is not/))
  await using strict = await openWorkspace('external')
  await assert.rejects(connectGit(origin, strict, ['ls-remote', '--', origin.url]), failing(/may not connect there/))
  await using friend = await openWorkspace('loopback', await readFile(certificateFile('authority'), 'utf8'))
  assert.equal((await git.convert(origin, friend)).commit_count, 3)
})
