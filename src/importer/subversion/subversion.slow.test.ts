import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ImportFailure, type Origin } from '#importer/source.ts'
import { blobId, exported, filesOf, importing, recordsOf, refsOf, type Workspace } from '#test/imports/svn-conversion.ts'
import { makeSvnRepository, uuid } from '#test/imports/svn-dump.ts'
import { noise, tellCorners, tellMoves } from '#test/imports/svn-repository.ts'
import { openSvnFolder, password, startApache, startSvnserve, username } from '#test/imports/svn-servers.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { commandsNow } from '#test/machine.ts'
import { connectTo } from './connection.ts'
import { inspectByDump } from './inspect-dump.ts'
import type { Folder } from './inspector.ts'
import { settlePlan } from './plan.ts'
import { subversion } from './subversion.ts'
import { openInspector } from './verify.ts'

test('a history with every feature matches svn export, over http:// and svn:// alike', async () => {
  await using folder = await openSvnFolder()
  const path = join(folder.path, 'corners')
  const head = await makeSvnRepository(path, tellCorners)
  await using wire = await startSvnserve(folder.path)
  await using web = await startApache(folder.path, { secret: true })
  await using one = await openWorkspace()
  await using other = await openWorkspace()

  const origin = originOf(`${wire.url}corners`)
  const { commit_count, default_branch, notes, remarks } = await importing(origin, one)
  assert.equal(default_branch, 'main')
  assert.equal(commit_count, head - 1)
  assert.deepEqual(notes, {
    'external definitions': 1,
    'files with svn:eol-style': 1,
    'files with svn:keywords': 1,
    'paths that git cannot keep': 1,
    'deleted branches and tags': 1,
  })
  assert.partialDeepStrictEqual(remarks, [{ what: 'external definition', path: 'trunk', text: 'ext http://127.0.0.1:1/x' }])
  const authors = [...new Set(one.authors().map(({ remote_id }) => remote_id))]
  assert.deepEqual(
    authors,
    ['ada', 'grace hopper', 'DOMAIN\\greg', 'releaser', '(no author)'].map((login) => `${login}@${uuid}`),
  )
  assert.deepEqual(
    one.authors().find(({ remote_name }) => remote_name === 'grace hopper'),
    {
      remote_id: `grace hopper@${uuid}`,
      remote_name: 'grace hopper',
      name: 'grace hopper',
      email: `grace_hopper@${uuid}`,
    },
  )
  assert.equal(one.percents().at(-1), 100)

  const refs = (await refsOf(one)).split('\n').map((line) => line.split(' ')[0])
  assert.deepEqual(refs, [
    ...['by-hand', 'feature/nested', 'from-tag', 'main', 'odd-name.-x', 'old', 'partial', 'unassigned'].map(
      (name) => `heads/${name}`,
    ),
    ...['mixed', 'v1.0'].map((name) => `tags/${name}`),
  ])
  const named = (await recordsOf(one)).filter((recorded) => 'ref' in recorded)
  assert.equal(named.length, refs.length)
  for (const { root, commit } of named) {
    const all = (await exported(path, root)).filter((file) => !file.includes('.git/'))
    const wanted = root === '' ? all.filter((file) => file.endsWith(' outside.txt')) : all
    assert.deepEqual((await filesOf(one, commit)).toSorted(), wanted.toSorted(), root)
  }
  assert.doesNotMatch(await one.git('fsck', '--strict'), /error|warning/)
  assert.equal(await one.git('log', '-1', '--format=%s%n%an', '--grep=Gr', 'refs/import/orig/heads/main'), 'Grüße aus Köln\nada')
  assert.equal(await one.git('cat-file', '-t', 'refs/import/orig/tags/v1.0'), 'tag')
  assert.equal(
    await one.git('for-each-ref', '--format=%(taggername) %(subject)', 'refs/import/orig/tags/v1.0'),
    'releaser Version 1.0',
  )
  const [merge = '', ...parents] = (await one.git('log', '--merges', '--format=%s %p', 'refs/import/orig/heads/old'))
    .split(' ')
    .reverse()
  assert.ok(merge !== '' && parents.join(' ').endsWith('trunk Merge'), 'what svn:mergeinfo says is a merge')

  const before = await refsOf(one)
  await subversion.arrange?.(origin, one)
  assert.equal(await refsOf(one), before)

  // The password is not in the process table.
  const secret = originOf(`${web.url}corners/`, username, password)
  let seen = 0
  const onProgress = (progress: Parameters<Workspace['onProgress']>[0]) => {
    const commands = commandsNow()
    seen += commands.filter((command) => command.startsWith('svnrdump')).length
    assert.ok(!commands.some((command) => command.includes(password)))
    other.onProgress(progress)
  }
  await importing(secret, { ...other, onProgress })
  assert.ok(seen > 0)
  assert.equal(await other.git('rev-parse', 'refs/import/raw'), await one.git('rev-parse', 'refs/import/raw'))
  assert.equal(await refsOf(other), before)

  for (const [from, workspace] of [
    [origin, one],
    [secret, other],
  ] as const) {
    // The slow inspector gives the same answers.
    const connection = await connectTo(from, workspace, workspace.folder)
    const { repository } = await settlePlan(from, connection, workspace)
    await using quick = await openInspector(from, repository, connection, workspace, { attributes: true })
    await using slow = inspectByDump(repository, connection)
    for (const folder of ['trunk', 'trunk/dir1', 'trunk/dir2 renamed', 'tags/mixed/dir7']) {
      const [listed, wanted] = await Promise.all([quick, slow].map((inspector) => inspector.list(folder, head - 2, () => false)))
      const plain = ({ entries }: Folder = { entries: [], lists: {} }) =>
        entries.map((file) => JSON.stringify({ ...file, changed: 0 })).toSorted()
      assert.ok(plain(wanted).length > 2)
      assert.deepEqual(plain(listed), plain(wanted))
    }
    const verified = await subversion.verify(from, workspace, true)
    assert.deepEqual(verified.mismatches, [])
    assert.deepEqual([verified.branches, verified.tags], [8, 2])
    // Three in the trunk, and one in each of its six copies.
    assert.deepEqual(verified.notes, { 'empty folders': 9 })
    assert.ok(verified.revisions > 25 && verified.files > 250)
    // One branch is replaced by another: verification must notice.
    const record = join(workspace.folder, 'arranged.jsonl')
    const old = named.find(({ root }) => root === 'branches/old')?.commit ?? ''
    const trunk = named.find(({ root }) => root === 'trunk')?.commit ?? ''
    await writeFile(record, (await readFile(record, 'utf8')).replaceAll(trunk, old))
    const { mismatches } = await subversion.verify(from, workspace, false)
    assert.deepEqual(
      mismatches.filter(({ where }) => where === 'heads/main'),
      [{ where: 'heads/main', path: 'data.bin', what: 'has another content' }],
    )
  }
})

test('passwords, projects and folders of servers are detected', async () => {
  await using folder = await openSvnFolder()
  await makeSvnRepository(join(folder.path, 'several'), (history) => {
    const { folder: make, add, commit } = history
    make('libs')
    for (const project of ['libs/one', 'libs/two words']) {
      for (const path of [project, `${project}/trunk`, `${project}/branches`]) make(path)
      add(`${project}/trunk/a.txt`, `${project}\n`)
    }
    commit('Two projects')
    make('plain')
    add('plain/a.txt', 'a\n')
    commit('A folder')
  })
  await makeSvnRepository(join(folder.path, 'moves'), tellMoves)
  await using wire = await startSvnserve(folder.path)
  await using web = await startApache(folder.path)
  await using lockedWire = await startSvnserve(folder.path, { secret: true })
  const rules = '[/]\n* = r\n[several:/libs]\n* =\nada = r\n'
  await using partly = await startSvnserve(folder.path, { rules })
  await using lockedWeb = await startApache(folder.path, { secret: true })
  await using workspace = await openWorkspace()
  const probe = (origin: Origin) => subversion.probe(origin, workspace)
  const choices = ['libs/one', 'libs/two words'].map((svn_root) => ({ vcs: 'subversion', svn_root, human_name: svn_root }))

  for (const { url } of [wire, web]) {
    assert.deepEqual(await probe(originOf(`${url}several`)), { found_multiple: choices })
    assert.deepEqual(await probe(originOf(`${url}several/libs/`)), { found_multiple: choices })
    assert.deepEqual(await probe({ ...originOf(`${url}several`), svn_root: 'libs/one' }), {
      found: { svn_root: 'libs/one', commit_count: 2 },
    })
    for (const path of ['several/libs/one', 'several/plain', 'several/libs/two%20words/trunk'])
      assert.deepEqual(await probe(originOf(url + path)), { found: { commit_count: 2 } }, path)
    assert.deepEqual(await probe(originOf(`${url}moves`)), { found: { svn_root: 'engine', commit_count: 7 } })
    assert.equal(await probe(originOf(`${url}none`)), 'nothing')
  }
  for (const { url } of [lockedWire, lockedWeb]) {
    assert.equal(await probe(originOf(`${url}several`)), 'needs_auth')
    assert.equal(await probe(originOf(`${url}several`, username, 'wrong')), 'needs_auth')
    assert.deepEqual(await probe(originOf(`${url}several`, username, password)), { found_multiple: choices })
    for (const refused of [
      originOf(`${url}several`),
      originOf(`${url}several`, username, 'wrong'),
      originOf(`${url}several`, username, 'a\nb'),
    ])
      await assert.rejects(
        subversion.convert(refused, workspace),
        (error) => error instanceof ImportFailure && error.kind === 'auth',
      )
  }
  // A server may ask for credentials for some folders only.
  assert.deepEqual(await probe({ ...originOf(`${partly.url}several`, username, password), svn_root: 'libs' }), {
    found_multiple: choices,
  })
  await assert.rejects(subversion.convert(originOf(`${wire.url}several`), workspace), /several projects/)
  await assert.rejects(
    subversion.convert({ ...originOf(`${wire.url}several`), svn_root: 'nix' }, workspace),
    /nothing at this path/,
  )
  await using outside = await openWorkspace('external')
  await assert.rejects(subversion.probe(originOf(`${wire.url}several`), outside), /may not connect/)

  // Each is imported without its neighbours.
  const wanted = new Map<Origin, string>([
    [{ ...originOf(`${web.url}several`), svn_root: 'libs/two words' }, 'heads/main a.txt'],
    [originOf(`${wire.url}several/plain`), 'heads/main a.txt'],
    [originOf(`${wire.url}several/libs/one/trunk`), 'heads/main a.txt'],
    [originOf(`${web.url}moves`), 'heads/early a.txt heads/main a.txt'],
    [originOf(`${web.url}moves/engine/branches/early`), 'heads/main a.txt'],
  ])
  for (const [origin, expected] of wanted) {
    await using place = await openWorkspace()
    const { default_branch } = await importing(origin, place)
    assert.equal(default_branch, 'main')
    const refs = (await refsOf(place)).split('\n').map((line) => line.split(' ')[0] ?? '')
    const contents = await Promise.all(
      refs.map(async (ref) => `${ref} ${await place.git('ls-tree', '-r', '--name-only', `refs/import/orig/${ref}`)}`),
    )
    assert.equal(contents.join(' '), expected, origin.url)
    assert.deepEqual((await subversion.verify(origin, place, true)).mismatches, [])
    const history = await place.git('log', '--format=%s', 'refs/import/orig/heads/main')
    if (origin.url.endsWith('moves')) assert.equal(history, 'And on\nGo on\nBegin')
    if (origin.url.endsWith('early')) assert.equal(history, 'Work on it\nBegin')
  }
})

test('a file larger than the memory limit is imported with its changes', async () => {
  await using folder = await openSvnFolder()
  const path = join(folder.path, 'large')
  const first = noise(17 << 20)
  const second = Buffer.concat([first.subarray(1 << 20), first.subarray(0, 5 << 20)])
  await makeSvnRepository(path, ({ folder: make, add, change, copy, commit, head }) => {
    make('trunk')
    add('trunk/large.bin', first)
    commit('A large file')
    change('trunk/large.bin', second)
    commit('It changes')
    copy('trunk/large.bin', head(), 'trunk/short.txt', { kind: 'file', content: first.subarray(0, 100) })
    commit('It becomes short')
  })
  await using server = await startSvnserve(folder.path)
  await using workspace = await openWorkspace()
  const origin = originOf(`${server.url}large`)
  await importing(origin, workspace)
  assert.deepEqual(await filesOf(workspace, 'refs/import/orig/heads/main'), [
    `100644 ${blobId(second)} large.bin`,
    `100644 ${blobId(first.subarray(0, 100))} short.txt`,
  ])
  assert.deepEqual(await filesOf(workspace, 'refs/import/orig/heads/main~2'), [`100644 ${blobId(first)} large.bin`])
  assert.deepEqual((await subversion.verify(origin, workspace, true)).mismatches, [])
})
