import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { git as run } from '#git/git.ts'
import { failing, makeEngine, refsOf } from '#test/imports/git-history.ts'
import { password, startGitServer, username } from '#test/imports/git-server.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { git } from './git.ts'

test('branches and tags are fetched with all their objects over each protocol, and no other refs', async () => {
  await using server = await startGitServer()
  const { path, bare } = await makeEngine(server)
  await bare('update-server-info')
  await bare('config', 'http.getanyfile', 'false')
  for (const kind of ['open', 'closed', 'dumb', 'moved']) {
    await using workspace = await openWorkspace()
    const origin = originOf(`${server.url}/${kind}/engine`, username, password)
    const converted = await git.convert(origin, workspace)
    assert.deepEqual(converted, { commit_count: 3, default_branch: 'topic/deep', notes: {} })
    assert.deepEqual(await refsOf(workspace.repository, 'refs/import/orig/'), await refsOf(path, 'refs/'))
    const all = await workspace.git('for-each-ref', '--format=%(refname)')
    assert.ok(
      all.split('\n').every((name) => /^refs\/import\/orig\/(heads|tags)\//.test(name)),
      all,
    )
    assert.deepEqual(
      workspace
        .authors()
        .map(({ remote_id }) => remote_id)
        .sort(),
      ['Zoë Ä <zoe@example.com>', 'ada <ada@example.com>'],
    )
    assert.deepEqual(workspace.reported.findLast(({ commit_count }) => commit_count !== undefined)?.commit_count, 3)
    const percents = workspace.percents()
    assert.deepEqual(
      percents,
      percents.toSorted((one, other) => one - other),
    )
    assert.equal(percents.at(-1), 100)
    assert.deepEqual(await git.arrange?.(origin, workspace), { notes: {}, large_blobs: [], lfs_objects: [] })
    for (const all of [false, true])
      assert.deepEqual(await git.verify(origin, workspace, all), { branches: 2, tags: 2, revisions: 3, files: 2, mismatches: [] })
    await workspace.git('fsck', '--strict')
    // The repository keeps neither the address of the source nor the identity of the importer.
    for (const name of ['config', 'FETCH_HEAD', 'packed-refs'])
      assert.doesNotMatch(await readFile(join(workspace.repository, name), 'utf8').catch(() => ''), /127\.0\.0\.1|pa ss|belfry/)
  }
})

test('differences from the source are reported, but not later pushes to it', async () => {
  await using server = await startGitServer()
  const { work } = await makeEngine(server)
  await using workspace = await openWorkspace()
  const origin = originOf(`${server.url}/open/engine.git`)
  await git.convert(origin, workspace)
  await work.commit('Later')
  await work.push('topic/deep')
  await work.push('topic/deep:refs/heads/new')
  await work.push(':refs/tags/light')
  assert.deepEqual((await git.verify(origin, workspace, false)).mismatches, [])
  await workspace.git('update-ref', 'refs/import/orig/heads/topic/deep', 'refs/import/orig/heads/main')
  await workspace.git('update-ref', '-d', 'refs/import/orig/tags/v1.0')
  const { mismatches } = await git.verify(origin, workspace, false)
  assert.deepEqual(
    mismatches.map(({ where }) => where),
    ['refs/heads/topic/deep', 'refs/tags/v1.0'],
  )
  // A commit whose tree is missing.
  const person = 'A <a@example.com> 1700000000 +0000'
  const input = `tree ${'1'.repeat(40)}\nauthor ${person}\ncommitter ${person}\n\nLost\n`
  const write = ['hash-object', '-t', 'commit', '--literally', '-w', '--stdin']
  const lost = (await run(['-C', workspace.repository, ...write], { input })).trim()
  await workspace.git('update-ref', 'refs/import/orig/heads/lost', lost)
  assert.match((await git.verify(origin, workspace, true)).mismatches[0]?.what ?? '', /missing or damaged/)
  // A restarted import fetches the current state, and runs no hook.
  const [hooks, trace] = [join(workspace.repository, 'hooks'), join(workspace.folder, 'trace')]
  await mkdir(hooks)
  for (const name of ['reference-transaction', 'post-checkout', 'pre-auto-gc'])
    await writeFile(join(hooks, name), `#!/bin/sh\ntouch ${trace}\n`, { mode: 0o700 })
  const again = await git.convert(origin, workspace)
  assert.equal(again.commit_count, 4)
  assert.deepEqual(await refsOf(workspace.repository, 'refs/import/orig/'), await refsOf(server.pathOf('engine'), 'refs/'))
  await assert.rejects(readFile(trace), { code: 'ENOENT' })
  // Without the setting, the hook would run.
  await workspace.git('update-ref', 'refs/heads/x', 'refs/import/orig/heads/main')
  await readFile(trace)
})

test('harmless faults are tolerated, and dangerous objects are refused', async () => {
  await using server = await startGitServer()
  const { work, bare, path } = await server.make('odd')
  await work.commit('Begin')
  await work.push('main')
  const blob = Buffer.from(await bare('rev-parse', 'main:notes.txt'), 'hex')
  const tree = async (mode: string, name: string) =>
    (
      await run(['-C', path, 'hash-object', '-t', 'tree', '--literally', '-w', '--stdin'], {
        input: Buffer.concat([Buffer.from(`${mode} ${name}\0`), blob]),
      })
    ).trim()
  const commit = async (tree: string) => {
    const person = 'A <a@example.com> 99999999999999999999 +9999'
    const input = `tree ${tree}\nauthor ${person}\ncommitter ${person}\n\nOdd\n`
    return (await run(['-C', path, 'hash-object', '-t', 'commit', '--literally', '-w', '--stdin'], { input })).trim()
  }
  await bare('update-ref', 'refs/heads/old', await commit(await tree('0100644', 'padded.txt')))
  await bare('tag', 'of-a-blob', blob.toString('hex'))
  await using workspace = await openWorkspace()
  const converted = await git.convert(originOf(`${server.url}/open/odd.git`), workspace)
  assert.deepEqual(converted, { commit_count: 2, default_branch: 'main', notes: {} })

  // A branch that does not point to a commit, and a name that is not UTF-8.
  const refs = await bare('for-each-ref', '--format=%(objectname) %(refname)')
  await bare('pack-refs', '--all')
  const odd = `${refs}\n${blob.toString('hex')} refs/heads/zero\n${refs.slice(0, 40)} refs/heads/\xff\n`
  await writeFile(join(path, 'packed-refs'), odd, 'latin1')
  const again = await git.convert(originOf(`${server.url}/open/odd.git`), workspace)
  assert.deepEqual(again.notes, { 'branches that are no commits': 1, 'refs with unusable names': 1 })
  assert.deepEqual((await git.verify(originOf(`${server.url}/open/odd.git`), workspace, false)).mismatches, [])

  const harmful = await tree('100644', '.git')
  await bare('update-ref', 'refs/heads/harmful', await commit(harmful))
  await bare('update-server-info')
  for (const kind of ['open', 'dumb']) {
    await using other = await openWorkspace()
    const refusal = failing(new RegExp(`${harmful}.*contains '\\.git' \\(hasDotgit\\).*Remove it`))
    await assert.rejects(git.convert(originOf(`${server.url}/${kind}/odd.git`), other), refusal)
  }
})

test('a shallow clone and a SHA-256 repository are refused with a message', async () => {
  await using server = await startGitServer()
  await makeEngine(server)
  await using workspace = await openWorkspace()
  await run(['clone', '--quiet', '--bare', '--depth=1', `file://${server.pathOf('engine')}`, server.pathOf('part')])
  await assert.rejects(git.convert(originOf(`${server.url}/open/part.git`), workspace), failing(/shallow clone/))
  await run(['init', '--quiet', '--bare', '--object-format=sha256', server.pathOf('wide')])
  const onProgress = ['-C', server.pathOf('wide'), 'fast-import', '--quiet']
  await run(onProgress, { input: 'commit refs/heads/main\ncommitter A <a@example.com> 0 +0000\ndata 0\n' })
  await assert.rejects(git.convert(originOf(`${server.url}/open/wide.git`), workspace), failing(/only SHA-1 is supported/))
  // A valid source is imported after a refused one.
  assert.equal((await git.convert(originOf(`${server.url}/open/engine.git`), workspace)).commit_count, 3)
})

test('an empty repository is imported', async () => {
  await using server = await startGitServer()
  await server.make('empty')
  await using workspace = await openWorkspace()
  const origin = originOf(`${server.url}/open/empty.git`)
  assert.deepEqual(await git.probe(origin, workspace), { found: {} })
  assert.deepEqual(await git.convert(origin, workspace), { commit_count: 0, notes: {} })
  assert.deepEqual(workspace.authors(), [])
  assert.deepEqual(await git.verify(origin, workspace, true), { branches: 0, tags: 0, revisions: 0, files: 0, mismatches: [] })
})
