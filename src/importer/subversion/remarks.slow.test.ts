import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { blobId, filesOf, importing, killHalfWay } from '#test/imports/svn-conversion.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import { openSvnFolder, startSvnserve } from '#test/imports/svn-servers.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { subversion } from './subversion.ts'

test('contents stay as they are stored, and the last definition of externals is listed', async () => {
  await using folder = await openSvnFolder()
  const path = join(folder.path, 'broken')
  const mixed = 'one\r\ntwo\nthree\rfour\n'
  await makeSvnRepository(path, ({ folder: make, add, describe, commit }) => {
    make('trunk')
    add('trunk/mixed.txt', mixed, { 'svn:eol-style': 'native' })
    make('trunk/lib')
    make('trunk/gone')
    describe('trunk/lib', 'dir', { 'svn:externals': 'a http://one.example/a\n' })
    describe('trunk/gone', 'dir', { 'svn:externals': 'b http://two.example/b\n' })
    commit('Begin')
    describe('trunk/lib', 'dir', { 'svn:externals': 'a http://other.example/a\nc ^/c c\n' })
    describe('trunk/gone', 'dir', {})
    commit('Change')
  })
  await using server = await startSvnserve(folder.path)
  await using workspace = await openWorkspace()
  const origin = originOf(`${server.url}broken`)
  const { notes, remarks } = await importing(origin, workspace)
  assert.deepEqual(remarks, [
    { what: 'external definition', path: 'trunk/lib', text: 'a http://other.example/a\nc ^/c c', revision: 2 },
  ])
  assert.equal(notes['files with svn:eol-style'], 1)
  assert.deepEqual(await filesOf(workspace, 'refs/import/orig/heads/main'), [`100644 ${blobId(mixed)} mixed.txt`])
  assert.deepEqual((await subversion.verify(origin, workspace, true)).mismatches, [])
})

test('a file whose properties are set again is counted once, also after a kill', async () => {
  await using folder = await openSvnFolder()
  await makeSvnRepository(join(folder.path, 'again'), ({ folder: make, add, describe, commit }) => {
    make('trunk')
    for (const name of ['a', 'b']) add(`trunk/${name} "${name}`, `${name}\n`, { 'svn:eol-style': 'native' })
    commit('Begin')
    for (let number = 2; number <= 12; number++) {
      for (const name of ['a', 'b'])
        describe(`trunk/${name} "${name}`, 'file', { 'svn:eol-style': 'LF', 'svn:keywords': `Id ${number}` })
      commit('Again')
    }
    add('trunk/c', 'c\n', { 'svn:keywords': 'Id' })
    commit('Another')
  })
  await using server = await startSvnserve(folder.path)
  await using whole = await openWorkspace()
  await using killed = await openWorkspace()
  const origin = originOf(`${server.url}again`)
  const { notes } = await importing(origin, whole)
  assert.deepEqual(notes, { 'files with svn:eol-style': 2, 'files with svn:keywords': 3 })
  const { number } = await killHalfWay(origin.url, killed)
  assert.ok(number >= 4 && number < 10, `it came to ${number}`)
  assert.deepEqual((await importing(origin, killed)).notes, notes)
})
