import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { convert, openConversions } from '#test/imports/convert-command.ts'
import { writeHistory } from '#test/imports/histories.ts'
import { historyIn, recordedHistory } from '#test/recordings/history.ts'
import { pathOf, replay } from '#test/recordings/replay.ts'
import { openScript } from '#test/tfvc/script.ts'
import { startTfvcServer } from '#test/tfvc/server.ts'

test('a recorded Subversion dump is converted to the files and commits that Subversion shows', async () => {
  await using work = await openConversions()
  const dump = pathOf('subversion.dump')
  const { code, output, messages } = await convert(dump, work.out('bells.git'), '--verify', 'full')
  assert.equal(code, 0, messages)
  assert.match(output, /Compared 2 branches, 1 tag, 6 revisions and \d+ files with the source: no differences\./)
  assert.deepEqual(await historyIn(work.out('bells.git')), recordedHistory('subversion'))
  const show = (...args: string[]) => git(['-C', work.out('bells.git'), ...args])
  assert.match(await show('cat-file', '-p', 'v1.0'), /^tagger ada <ada@6c5b8a1e-\S+> 1262332800 \+0000\n\nTag$/m)
  assert.match(await show('log', '--follow', '--format=%s', 'main', '--', 'src/start.c'), /^Rename a file.*\nImport\n$/)

  assert.equal((await convert(dump, work.out('more.git'), '--svn-ignore', '--gitattributes', '--keep-deleted')).code, 0)
  const shown = (name: string) => git(['-C', work.out('more.git'), 'show', `main:${name}`])
  assert.deepEqual([await shown('.gitignore'), await shown('.gitattributes')], ['/*.o\n', '/*.md text=auto\n'])
  assert.match(await git(['-C', work.out('more.git'), 'for-each-ref', '--format=%(refname)']), /^refs\/tags\/deleted\/gone@9$/m)
})

test('authors and layout of a dump are given, and what is wrong with them or with the dump is explained', async () => {
  await using work = await openConversions()
  const dump = pathOf('subversion.dump')
  await writeFile(work.out('authors'), '# Ours\nada = Ada Lovelace <ada@example.com>\n')
  const authors = ['--authors', work.out('authors')]
  const missing = await convert(dump, '--authors-missing', ...authors)
  assert.deepEqual([missing.code, missing.messages], [1, '2 of 3 authors have no entry.'])
  assert.match(missing.output, /^grace = grace <grace@\S+>\njoan = joan <joan@\S+>$/)
  const named = await convert(dump, work.out('named.git'), ...authors)
  assert.match(named.messages, /2 authors have no entry in .*: grace, joan\./)
  assert.match(
    await git(['-C', work.out('named.git'), 'log', '-1', '--format=%an <%ae>', 'main~1']),
    /^Ada Lovelace <ada@example\.com>$/m,
  )
  await writeFile(work.out('authors'), 'ada = Ada\n')
  assert.match((await convert(dump, work.out('x.git'), ...authors)).messages, /^Line 1 of the authors file/)
  assert.match((await convert(dump, work.out('authors/x.git'))).messages, /authors\/x\.git cannot be written: ENOTDIR/)

  const layout = ['--layout', 'trunk=trunk', '--layout', 'branches=branches/f*', '--layout', 'tags=tags/*']
  const { output } = await convert(dump, work.out('layout.git'), '--dry-run', ...layout)
  assert.match(
    output,
    /\n {2}branch {2}feature +branches\/feature\n {2}tag {5}v1\.0 +tags\/v1\.0\n.*branches\/gone .*outside of branches and tags/s,
  )
  const typo = await convert(dump, work.out('typo.git'), '--layout', 'trunk=trnk')
  assert.equal(typo.code, 1)
  assert.match(typo.messages, /never had a file: trnk\. Name another folder as the trunk\. The project has: .*trunk/)
  assert.match((await convert(dump, work.out('x.git'), '--project', 'nope')).messages, /no folder nope in/)
  const whole = await readFile(dump)
  await writeFile(work.out('cut.dump'), whole.subarray(0, whole.length / 2))
  assert.match((await convert(work.out('cut.dump'), work.out('cut.git'))).messages, /The dump ends/)
  assert.match((await convert(work.out('authors'), work.out('x.git'))).messages, /authors is not a Subversion dump\./)
})

test('a recorded Mercurial repository is converted to the files and commits that Mercurial shows', async () => {
  await using work = await openConversions()
  await using server = await replay('mercurial.jsonl')
  const { code, output, messages } = await convert(server.url, work.out('bells.git'), '--verify', 'full')
  assert.equal(code, 0, messages)
  assert.match(
    output,
    /\(mercurial\).* {2}subrepository: bell\n.*No branch and no tag contains:\n {2}done {2}\(6 to 7; 2 changes; closed\)/s,
  )
  assert.deepEqual(await historyIn(work.out('bells.git')), recordedHistory('mercurial'))
  const people = await git(['-C', work.out('bells.git'), 'log', '--all', '--format=%an <%ae>'])
  assert.deepEqual([...new Set(people.trim().split('\n'))].sort(), [
    'Ada Lovelace <ada@example.org>',
    'Grace Höpper <grace@example.org>',
    'joan <none@none>',
  ])
  assert.equal((await convert(server.url, work.out('kept.git'), '--keep-deleted')).code, 0)
  assert.ok((await historyIn(work.out('kept.git'))).includes('refs/heads/closed/done: Close it'))
})

test('a recorded TFVC project is converted to the files and commits of its server', async () => {
  await using work = await openConversions()
  await using server = await replay('tfvc.jsonl')
  const { code, output, messages } = await convert(
    `${server.url}/tfs/DefaultCollection`,
    work.out('bells.git'),
    '--verify',
    'full',
  )
  assert.equal(code, 0, messages)
  assert.match(output, /\(tfvc\)/)
  assert.deepEqual(await historyIn(work.out('bells.git')), recordedHistory('tfvc'))
})

test('a TFVC project is converted, and a later run reads only later changesets', async () => {
  await using work = await openConversions()
  const script = openScript()
    .checkIn('Begin', (desk) => desk.folder('$/Alpha').put('$/Alpha/Main/a.txt', 'a'))
    .checkIn('Branch', (desk) => desk.branch('$/Alpha/Main', '$/Alpha/Dev'))
    .checkIn('Edit', (desk) => desk.put('$/Alpha/Dev/a.txt', 'edited'))
  await using server = await startTfvcServer(script)
  const given = [server.url, work.out('alpha.git'), '--project', 'Alpha', '--metadata', '--json']
  const first = await convert(...given)
  assert.equal(first.code, 0, first.messages)
  script.checkIn('Later', (desk) => desk.put('$/Alpha/Main/later.txt', 'later'))
  const asked = server.asked.length
  const { moved, commit_count, verification } = JSON.parse((await convert(...given)).output)
  assert.deepEqual([moved.commits, moved.created, moved.updated.length, moved.rewritten], [1, [], 1, false])
  assert.deepEqual([commit_count, verification.mismatches], [JSON.parse(first.output).commit_count + 1, []])
  const changes = server.asked.slice(asked).filter(({ path }) => /\/changesets\/\d+\/changes$/.test(path))
  assert.equal(changes.length, 1, 'the changes of the later changeset')
  const [name] = Object.keys(JSON.parse(first.output).refs)
  assert.match(await git(['-C', work.out('alpha.git'), 'log', '-1', '--format=%b', `${name}`]), /git-tfs-id: \[http.*\]\$\/Alpha/)
})

test('large files of a git repository go to LFS, and --final removes what a later run would need', async () => {
  await using work = await openConversions()
  const show = (out: string, ...args: string[]) => git(['-C', work.out(out), ...args])
  await writeHistory(work.out('plain.git'), { commits: 12, large: [{ at: 3, path: 'big.bin', size: 3000 }] })
  for (const line of (await show('plain.git', 'for-each-ref', '--format=%(refname) %(objectname)')).trim().split('\n')) {
    const [ref = '', id = ''] = line.split(' ')
    await show('plain.git', 'update-ref', ref.replace('import/orig/', ''), id)
  }
  const large = await convert(
    work.out('plain.git'),
    work.out('large.git'),
    '--include',
    'big.*',
    '--lfs',
    '2kB',
    '--final',
    '--json',
  )
  assert.equal(large.code, 0, large.messages)
  const pointer = await show('large.git', 'show', 'main:big.bin')
  const [, oid = ''] = /sha256:(\w+)/.exec(pointer) ?? []
  assert.ok(existsSync(work.out(`large.git/lfs/objects/${oid.slice(0, 2)}/${oid.slice(2, 4)}/${oid}`)))
  assert.equal((await show('large.git', 'log', '--format=%s', 'main')).trim().split('\n').length, 1)
  assert.ok(!existsSync(work.out('large.git/belfry-convert')))
})

test('wrong arguments are explained', async () => {
  await assert.rejects(convert('svn://127.0.0.1/x'), /SOURCE and OUT\.git are needed/)
  await assert.rejects(convert('https://ada:secret@127.0.0.1/x', 'x.git'), /BELFRY_SOURCE_PASSWORD/)
  await assert.rejects(convert('x', 'x.git', '--since', 'soon'), /--since must be/)
  await assert.rejects(convert('x', 'x.git', '--lfs', 'large'), /--lfs must be a size/)
  await assert.rejects(convert('x', 'x.git', '--kind', 'cvs'), /--kind must be one of/)
  await assert.rejects(convert('x', 'x.git', '--default-branch', 'a b'), /no branch named "a b"/)
  await assert.rejects(convert('x', 'x.git', '--layout', 'main'), /--layout must be trunk=FOLDER/)
})
