import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { exported, filesOf, importing } from '#test/imports/svn-conversion.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import { openSvnFolder, startApache, startSvnserve } from '#test/imports/svn-servers.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { openLineEnds } from './line-ends.ts'
import { subversion } from './subversion.ts'

const styles = ['native', 'LF', 'CRLF', 'CR'] as const
const texts = ['', 'x', 'x\n', 'x\r\ny', 'x\ry', 'x\r\n\r\n', 'x\r\ny\n', 'x\r\ny\r', '\n\r', 'one\r\ntwo\nthree\rfour\n']
const note = 'files with other line ends than svn:eol-style asks for'

test('the report lists exactly the files that svn export writes with other line ends', async () => {
  await using folder = await openSvnFolder()
  const path = join(folder.path, 'ends')
  await makeSvnRepository(path, ({ folder: make, add, describe, copy, change, commit, head }) => {
    make('trunk')
    make('branches')
    make('trunk/lib')
    for (const style of styles)
      for (const [number, text] of texts.entries()) add(`trunk/lib/${style} ${number}`, text, { 'svn:eol-style': style })
    add('trunk/plain.txt', 'x\r\ny\n')
    add('trunk/later.txt', 'x\r\n')
    add('trunk/link', 'link a\rb', { 'svn:special': '*', 'svn:eol-style': 'native' })
    add('trunk/repaired.txt', 'x\r\n', { 'svn:eol-style': 'LF' })
    commit('Begin')
    describe('trunk/later.txt', 'file', { 'svn:eol-style': 'native' })
    change('trunk/repaired.txt', 'x\n')
    commit('Change')
    copy('trunk', head(), 'branches/one')
    commit('A branch')
    add('branches/one/new.bat', 'x\n', { 'svn:eol-style': 'CRLF' })
    commit('A file of the branch alone')
  })
  execFileSync('svnadmin', ['dump', '--quiet', path, '--file', join(folder.path, 'ends.dump')])
  await using wire = await startSvnserve(folder.path)
  await using web = await startApache(folder.path)
  for (const origin of [
    originOf(`${wire.url}ends`),
    originOf(`${web.url}ends`),
    { ...originOf(`file://${folder.path}/ends.dump`), local: true },
  ]) {
    await using workspace = await openWorkspace()
    await importing(origin, workspace)
    const differing = new Set<string>()
    for (const [ref, root] of [
      ['main', 'trunk'],
      ['one', 'branches/one'],
    ] as const) {
      const written = new Set(await exported(path, root))
      for (const file of await filesOf(workspace, `refs/import/orig/heads/${ref}`))
        if (!written.has(file)) differing.add(file.replace(/^\d+ \w+ /, ''))
    }
    for (const all of [false, true]) {
      const { mismatches, notes, remarks = [] } = await subversion.verify(origin, workspace, all)
      assert.deepEqual(mismatches, [])
      assert.deepEqual(
        remarks.map((remark) => remark.path),
        [...differing].toSorted(),
      )
      assert.equal(notes?.[note], differing.size)
      assert.deepEqual(remarks.at(-1), { what: 'other line ends', path: 'new.bat', text: 'svn:eol-style CRLF' })
    }
  }
})

test('line ends are found across pieces', () => {
  for (const style of styles)
    for (const text of texts) {
      const [whole, bytes] = [openLineEnds(style), openLineEnds(style)]
      whole.take(Buffer.from(text))
      for (const byte of Buffer.from(text)) bytes.take(Buffer.of(byte))
      assert.equal(bytes.differ(), whole.differ(), JSON.stringify([style, text]))
    }
})
