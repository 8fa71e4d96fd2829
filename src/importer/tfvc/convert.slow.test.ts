import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { longComment, tellStory, treeOf } from '#test/tfvc/example-history.ts'
import { startTfvcServer } from '#test/tfvc/server.ts'
import { tfvc } from './tfvc.ts'

type Bench = Awaited<ReturnType<typeof openWorkspace>>

const listing = async (workspace: Bench, tree: string) =>
  (await workspace.git('ls-tree', '-r', '-z', tree))
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => line.replace(/^(\d+) blob (\w+)\t/, '$1 $2 '))
    .sort()

const refs = (workspace: Bench) => workspace.git('for-each-ref', '--format=%(objectname) %(refname)', 'refs/import')

test('every changeset becomes a commit with the tree of the server, and branches are those of the server', async () => {
  const script = tellStory()
  // Requests to a slow server are concurrent.
  const meddle = () => wait(2, false)
  await using server = await startTfvcServer(script, { meddle })
  await using workspace = await openWorkspace()
  const origin = { ...originOf(server.url), tfvc_project: 'Alpha' }
  const { commit_count, notes } = await tfvc.convert(origin, workspace)

  const wanted = script.changesets.filter(({ changes }) => changes.some(({ path }) => /^\$\/alpha(\/|$)/i.test(path)))
  const commits = (await workspace.git('rev-list', '--reverse', 'refs/import/raw')).split('\n')
  assert.equal(commit_count, wanted.length)
  assert.equal(commits.length, wanted.length)
  for (const [index, { id, comment }] of wanted.entries()) {
    assert.deepEqual(
      await listing(workspace, commits[index] ?? ''),
      treeOf(script, '$/Alpha', id),
      `${id}: ${comment.slice(0, 60)}`,
    )
  }
  assert.deepEqual(notes, { 'files with names that git refuses': 2 })
  assert.equal(server.most, 8)
  // Equal contents are fetched once: branches and renames cost nothing.
  assert.ok(server.downloads < 175, `${server.downloads} downloads`)
  assert.deepEqual(workspace.authors(), [
    { remote_id: 'FABRIKAM\\normal', remote_name: 'Normal Paulk', name: 'Normal Paulk', email: 'normal@FABRIKAM' },
    {
      remote_id: 'chuck@fabrikam.example',
      remote_name: 'Chuck Reinhart',
      name: 'Chuck Reinhart',
      email: 'chuck@fabrikam.example',
    },
    { remote_id: 'FABRIKAM\\jm', remote_name: 'Jürgen <Müller>', name: 'Jürgen Müller', email: 'jm@FABRIKAM' },
  ])
  const percents = workspace.percents()
  assert.deepEqual(
    percents,
    percents.toSorted((one, other) => one - other),
  )
  assert.equal(percents.at(-1), 100)

  const arranged = await tfvc.arrange?.(origin, workspace)
  assert.equal(arranged?.default_branch, 'Main')
  const before = await refs(workspace)
  assert.deepEqual(
    [...before.matchAll(/orig\/(.+)/g)].map(([, name]) => name),
    ['heads/Dev', 'heads/Main'],
  )
  const last = script.changesets.length
  for (const branch of ['Main', 'Dev']) {
    assert.deepEqual(await listing(workspace, `refs/import/orig/heads/${branch}`), treeOf(script, `$/Alpha/${branch}`, last))
  }
  const log = await workspace.git(
    'log',
    '--topo-order',
    '--reverse',
    '--format=%s|%P|%an <%ae>|%at',
    'refs/import/orig/heads/Main',
  )
  const merges = log.split('\n').filter((line) => / [0-9a-f]{40}\|/.test(line))
  assert.deepEqual(
    merges.map((line) => line.split('|')[0]),
    ['Merge Dev to Main'],
  )
  assert.match(log, /^two branches at once\|[0-9a-f]{40}\|Jürgen Müller <jm@FABRIKAM>\|1395264239$/m)
  const [first = ''] = (await workspace.git('rev-list', '--reverse', 'refs/import/orig/heads/Main')).split('\n')
  assert.equal(await workspace.git('log', '-1', '--format=%B', first), longComment.replaceAll('\r\n', '\n').trim())
  assert.equal(await workspace.git('log', '--merges', '--format=%s', 'refs/import/orig/heads/Dev'), 'merged into Dev')
  await workspace.git('fsck', '--strict')

  const { mismatches, ...compared } = await tfvc.verify(origin, workspace, true)
  assert.deepEqual(mismatches, [])
  assert.deepEqual({ ...compared, files: 0 }, { branches: 2, tags: 0, revisions: wanted.length, files: 0 })
  assert.ok(compared.files > 5000)
  await tfvc.arrange?.(origin, workspace)
  assert.equal(await refs(workspace), before)

  // What changes in the source afterwards is named.
  const edited = wanted.at(-1)
  if (edited) Object.assign(edited, { comment: 'Another', author: wanted[0]?.author, date: '2001-02-03T04:05:06.000Z' })
  for (const all of [true, false]) {
    const { mismatches: named } = await tfvc.verify(origin, workspace, all)
    const texts = named.filter(({ where }) => where.startsWith(`changeset ${edited?.id} of `)).map(({ what }) => what)
    assert.deepEqual(texts.slice(-2), ['has another date', 'has another comment'])
  }
})
