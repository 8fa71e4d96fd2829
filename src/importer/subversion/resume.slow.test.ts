import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { importing, killHalfWay, refsOf } from '#test/imports/svn-conversion.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import { tellCorners, tellLong } from '#test/imports/svn-repository.ts'
import { openSvnFolder, startSvnserve } from '#test/imports/svn-servers.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { childrenOf, until } from '#test/machine.ts'
import { subversion } from './subversion.ts'

test('a killed import of one project resumes and gives the same commits', async () => {
  await using folder = await openSvnFolder()
  await makeSvnRepository(join(folder.path, 'corners'), (history) => {
    history.folder('libs')
    tellCorners(history, 'libs/one project')
  })
  await using server = await startSvnserve(folder.path)
  await using whole = await openWorkspace()
  await using killed = await openWorkspace()
  const origin = originOf(`${server.url}corners/libs/one%20project`)
  await importing(origin, whole)
  assert.equal(JSON.parse(await readFile(join(whole.folder, 'plan.json'), 'utf8')).dump, 'libs/one project')
  assert.deepEqual((await subversion.verify(origin, whole, true)).mismatches, [])

  const checkpoint = await killHalfWay(origin.url, killed)
  assert.ok(checkpoint.number >= 12 && checkpoint.number < 30, `it came to ${checkpoint.number}`)
  await importing(origin, killed)
  assert.equal(await killed.git('rev-parse', 'refs/import/raw'), await whole.git('rev-parse', 'refs/import/raw'))
  assert.equal(await refsOf(killed), await refsOf(whole))
  assert.deepEqual(await subversion.convert(origin, killed), await subversion.convert(origin, whole))
  assert.deepEqual(new Set(killed.authors().map(({ name }) => name)), new Set(whole.authors().map(({ name }) => name)))
})

test('a stopped import ends all its processes, and an empty repository has no branches', async () => {
  await using folder = await openSvnFolder()
  await makeSvnRepository(join(folder.path, 'long'), (history) => tellLong(history, 150))
  await makeSvnRepository(join(folder.path, 'empty'), () => {})
  await using server = await startSvnserve(folder.path)
  await using workspace = await openWorkspace()
  const before = childrenOf(process.pid)
  const onProgress = ({ percent = 0 }) => {
    if (percent > 10) workspace.stop()
  }
  const stopped = subversion.convert(originOf(`${server.url}long`), { ...workspace, onProgress })
  await assert.rejects(stopped, /the import was stopped/)
  await until('what it started has ended', () => childrenOf(process.pid).every((child) => before.includes(child)))

  await using other = await openWorkspace()
  const empty = originOf(`${server.url}empty`)
  assert.deepEqual(await subversion.probe(empty, other), { found: { commit_count: 0 } })
  assert.deepEqual(await importing(empty, other), { commit_count: 0, default_branch: undefined, notes: {}, remarks: [] })
  assert.equal((await subversion.verify(empty, other, true)).branches, 0)
})
