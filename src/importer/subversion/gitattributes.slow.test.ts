import assert from 'node:assert/strict'
import { readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { attributeFiles, tellAttributes } from '#test/imports/svn-attribute-history.ts'
import { blobId, exported, filesOf, importing, killHalfWay, recordsOf, refsOf } from '#test/imports/svn-conversion.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import { openSvnFolder, startApache, startSvnserve } from '#test/imports/svn-servers.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { connectTo } from './connection.ts'
import { writeAttributesFile } from './gitattributes.ts'
import { inspectByDump } from './inspect-dump.ts'
import { settlePlan } from './plan.ts'
import { subversion } from './subversion.ts'
import { openInspector } from './verify.ts'

const isAttributesFile = (file: string) => /[ /]\.gitattributes$/.test(file)
const replaced = 'lists of attributes left out for a .gitattributes of the source'

test('properties of files become .gitattributes files if requested, and nothing else changes', async () => {
  await using folder = await openSvnFolder()
  const path = join(folder.path, 'styles')
  const head = await makeSvnRepository(path, tellAttributes)
  await using wire = await startSvnserve(folder.path)
  await using web = await startApache(folder.path)
  await using one = await openWorkspace()
  await using other = await openWorkspace()
  const plain = originOf(`${wire.url}styles`)
  await importing(plain, one)
  assert.deepEqual((await subversion.verify(plain, one, true)).mismatches, [])

  // In the same folder: what was read without the option is read again.
  const chosen = { ...plain, gitattributes: true }
  const { notes } = await importing(chosen, { ...one, extend: true })
  assert.equal(notes[replaced], 3)
  const refs = (await recordsOf(one)).filter((recorded) => 'ref' in recorded)
  assert.deepEqual(new Set(refs.map(({ ref }) => ref.replace('refs/import/orig/', ''))), new Set(Object.keys(attributeFiles)))
  for (const { ref, root, commit } of refs) {
    const files = await filesOf(one, commit)
    const wanted = attributeFiles[ref.replace('refs/import/orig/', '')] ?? {}
    for (const [name, content] of Object.entries(wanted)) assert.equal(await one.git('show', `${commit}:${name}`), content.trim())
    assert.deepEqual(
      files.filter(isAttributesFile).toSorted(),
      Object.entries(wanted)
        .map(([name, content]) => `100644 ${blobId(content)} ${name}`)
        .toSorted(),
      ref,
    )
    // An export of Subversion has changed line ends, so names are compared here and contents below.
    const names = (list: string[]) =>
      list.map((file) => file.replace(/^\d+ \w+ /, '')).filter((name) => !isAttributesFile(` ${name}`))
    assert.deepEqual(names(files).toSorted(), names(await exported(path, root)).toSorted(), ref)
  }
  assert.doesNotMatch(await one.git('fsck', '--strict'), /error|warning/)

  const byWeb = { ...originOf(`${web.url}styles`), gitattributes: true }
  await importing(byWeb, other)
  assert.equal(await refsOf(other), await refsOf(one))
  for (const [origin, workspace] of [
    [chosen, one],
    [byWeb, other],
  ] as const) {
    assert.deepEqual((await subversion.verify(origin, workspace, true)).mismatches, [])
    const connection = await connectTo(origin, workspace, workspace.folder)
    const { repository } = await settlePlan(origin, connection, workspace)
    await using quick = await openInspector(origin, repository, connection, workspace, { attributes: true })
    await using slow = inspectByDump(repository, connection)
    for (const place of ['trunk', 'trunk/lib', 'branches/one', 'tags/v1/lib2']) {
      const [said, wanted] = await Promise.all([quick, slow].map((each) => each.list(place, head, () => true)))
      assert.equal(writeAttributesFile(said?.entries ?? []), writeAttributesFile(wanted?.entries ?? []), place)
    }
  }

  // A clone has the line ends that Subversion writes, and shows nothing as modified.
  const clone = join(folder.path, 'clone')
  await git(['init', '--quiet', clone])
  await git(['-C', clone, 'fetch', '--quiet', one.repository, 'refs/import/orig/heads/main'])
  await git(['-C', clone, 'checkout', '--quiet', 'FETCH_HEAD'])
  const files = (await git(['-C', clone, 'ls-files', '-z'])).split('\0').slice(0, -1)
  for (const file of files) await utimes(join(clone, file), 0, 0)
  assert.equal(await git(['-C', clone, 'status', '--porcelain']), '')
  assert.equal(await readFile(join(clone, 'run.bat'), 'utf8'), 'x\r\ny\r\n')
  const attributes = await git(['-C', clone, 'check-attr', '-z', '--all', '--', 'sp ace "q" [x]*\\', 'plain.txt', 'lib/z.c'])
  assert.deepEqual(attributes.split('\0').slice(0, -1), [
    ...['sp ace "q" [x]*\\', 'text', 'auto'],
    ...['sp ace "q" [x]*\\', 'eol', 'lf'],
  ])
})

test('generated .gitattributes files are verified too, and survive a kill', async () => {
  await using folder = await openSvnFolder()
  await makeSvnRepository(join(folder.path, 'styles'), tellAttributes)
  await using server = await startSvnserve(folder.path)
  await using workspace = await openWorkspace()
  const origin = { ...originOf(`${server.url}styles`), gitattributes: true }
  const { notes } = await importing(origin, workspace)
  const main = await workspace.git('rev-parse', 'refs/import/orig/heads/main')
  const record = await readFile(join(workspace.folder, 'arranged.jsonl'), 'utf8')
  const inline = (path: string, content: string, mode = '100644') =>
    `M ${mode} inline ${path}\ndata ${content.length}\n${content}\n`
  for (const [change, path, what] of [
    [inline('.gitattributes', '* text\n'), '.gitattributes', 'has another content'],
    [inline('lib/.gitattributes', '/x.c text=auto eol=lf\n', '100755'), 'lib/.gitattributes', 'has the mode 100755'],
    ['D lib/.gitattributes\n', 'lib/.gitattributes', 'is missing in git'],
    [inline('lib2/.gitattributes', '* text\n'), 'lib2/.gitattributes', 'is in git and not in Subversion'],
    [inline('a.c', 'other\n'), 'a.c', 'has another content'],
  ] as const) {
    const input = `commit refs/test\ncommitter x <x> 0 +0000\ndata 0\nfrom ${main}\n${change}\n`
    await git(['-C', workspace.repository, 'fast-import', '--quiet', '--force'], { input })
    const tampered = await workspace.git('rev-parse', 'refs/test')
    await writeFile(join(workspace.folder, 'arranged.jsonl'), record.replaceAll(main, tampered))
    const { mismatches } = await subversion.verify(origin, workspace, false)
    assert.deepEqual(
      mismatches.filter(({ where }) => where === 'heads/main'),
      [{ where: 'heads/main', path, what }],
    )
  }
  await using killed = await openWorkspace()
  const checkpoint = await killHalfWay(origin.url, killed, 'attributes')
  assert.ok(checkpoint.number >= 4 && checkpoint.number < 10 && checkpoint.attributes > 0, `it came to ${checkpoint.number}`)
  assert.equal((await importing(origin, killed)).notes[replaced], notes[replaced])
  assert.equal(await refsOf(killed), await refsOf(workspace))
})

test('attributes of a project that was partly copied from outside of what is read', async () => {
  await using folder = await openSvnFolder()
  await makeSvnRepository(join(folder.path, 'several'), ({ folder: make, add, copy, describe, commit, head }) => {
    make('other')
    make('other/lib')
    add('other/lib/x.c', 'x\n', { 'svn:eol-style': 'LF' })
    add('other/y.c', 'y\n', { 'svn:eol-style': 'native' })
    commit('Elsewhere')
    make('libs')
    make('libs/engine')
    make('libs/engine/trunk')
    commit('Begin')
    copy('other/lib', 1, 'libs/engine/trunk/lib')
    copy('other/y.c', 1, 'libs/engine/trunk/y.c', { kind: 'file' })
    commit('Copy from elsewhere')
    copy('libs/engine/trunk', head(), 'libs/engine/old')
    describe('libs/engine/trunk/lib/x.c', 'file', { 'svn:eol-style': 'CRLF' })
    commit('Change')
  })
  await using server = await startSvnserve(folder.path)
  await using workspace = await openWorkspace()
  const origin = { ...originOf(`${server.url}several`), svn_root: 'libs/engine', gitattributes: true }
  await importing(origin, workspace)
  const shown = (path: string) => workspace.git('show', `refs/import/orig/heads/main:${path}`)
  assert.equal(await shown('.gitattributes'), '/*.c text=auto')
  assert.equal(await shown('lib/.gitattributes'), '/*.c text=auto eol=crlf')
  assert.deepEqual((await subversion.verify(origin, workspace, true)).mismatches, [])
})
