import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { password, startGitServer, username } from '#test/imports/git-server.ts'
import { listen } from '#test/imports/http-server.ts'
import { startRedirecting, startVictim } from '#test/imports/svn-redirects.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { fetchLargeObjects } from './git/large-objects.ts'
import { connectGit } from './git/remote-git.ts'
import { connect } from './mercurial/hg-http.ts'
import type { Kind } from './source.ts'
import { openSource } from './sources.ts'
import { openClient } from './tfvc/client.ts'

test('no source is followed to another host', async () => {
  await using victim = await startVictim()
  await using source = await startRedirecting(`http://127.0.0.1:${victim.port}/x`, () => true)
  const origin = { ...originOf(`${source.url}x`, username, password), tfvc_project: 'x' }
  // src/importer/subversion/redirects.slow.test.ts has Subversion, which needs its own programs.
  const clients: Record<
    Exclude<Kind, 'subversion'>,
    (workspace: Awaited<ReturnType<typeof openWorkspace>>) => Promise<unknown>
  > = {
    git: (workspace) => connectGit(origin, workspace, ['ls-remote', '--', origin.url]),
    mercurial: (workspace) => connect(origin, workspace),
    tfvc: (workspace) => openClient(origin.url, origin, workspace, 1).read('_apis/tfvc/items', {}),
  }
  for (const [kind, read] of Object.entries(clients)) {
    await using workspace = await openWorkspace()
    const before = source.requests.length
    await assert.rejects(read(workspace), kind)
    assert.ok(source.requests.length > before, kind)
    await assert.rejects((await openSource(kind as Kind)).convert(origin, workspace), kind)
  }
  assert.equal(victim.connections(), 0)
})

test('alternates of a dumb git server lead nowhere', async () => {
  await using server = await startGitServer()
  const { path, work, bare } = await server.make('engine')
  await work.commit('One', { 'a.txt': 'a\n' })
  await work.push('main')
  await bare('update-server-info')
  const tree = (await bare('rev-parse', 'main^{tree}')).trim()
  await rm(join(path, 'objects', tree.slice(0, 2), tree.slice(2)))
  await using victim = await startVictim()
  for (const name of ['http-alternates', 'alternates'])
    await writeFile(join(path, 'objects', 'info', name), `http://127.0.0.1:${victim.port}/objects\n`)
  await using workspace = await openWorkspace()
  const origin = originOf(`${server.url}/dumb/engine.git`)
  await assert.rejects((await openSource('git')).convert(origin, workspace))
  assert.ok(server.asked.some(({ path }) => path.includes(tree.slice(2))))
  assert.equal(victim.connections(), 0)
})

test('LFS links to other hosts get no password, and none to files is followed', async () => {
  const contents = Buffer.from('large')
  const oid = createHash('sha256').update(contents).digest('hex')
  const seen: (string | undefined)[] = []
  await using store = await listen(
    createServer((request, response) => {
      seen.push(request.headers.authorization)
      response.end(contents)
    }),
  )
  for (const [location, count] of [
    [`${store.url}/x`, 1],
    ['file:///etc/passwd', 0],
  ] as const) {
    await using source = await listen(
      createServer((request, response) => {
        const actions = { download: { href: `http://${request.headers.host}/object` } }
        if (request.url === '/object') response.writeHead(302, { location }).end()
        else response.end(JSON.stringify({ objects: [{ oid, size: contents.length, actions }] }))
      }),
    )
    await using workspace = await openWorkspace()
    const origin = originOf(`${source.url}/x`, username, password)
    const found = await fetchLargeObjects(origin, workspace, [{ oid, size: contents.length }], () => {})
    assert.equal(found.length, count)
  }
  assert.deepEqual(seen, [undefined])
})
